import type { Mutant } from "../mutant.ts";
import { budgetMutants } from "./budget.ts";
import { clientMutants } from "./client.ts";
import { copyMutants } from "./copy.ts";
import { dispatcherMutants } from "./dispatcher.ts";
import { durabilityMutants } from "./durability.ts";
import { inboxMutants, modelMutants } from "./inbox.ts";
import { instanceMutants } from "./instances.ts";
import { mcpMutants } from "./mcp.ts";
import { metricsMutants } from "./metrics.ts";
import { modeMutants } from "./mode.ts";
import { pollerMutants } from "./poller.ts";
import { postgresMutants } from "./postgres.ts";
import { restoreMutants } from "./restores.ts";
import { severalBotsMutants } from "./several-bots.ts";
import { stepMutants } from "./steps.ts";

/** All there are. */
export const allMutants: readonly Mutant[] = [
  ...inboxMutants,
  ...modelMutants,
  ...durabilityMutants,
  ...dispatcherMutants,
  ...stepMutants,
  ...restoreMutants,
  ...modeMutants,
  ...budgetMutants,
  ...clientMutants,
  ...pollerMutants,
  ...postgresMutants,
  ...copyMutants,
  ...severalBotsMutants,
  ...instanceMutants,
  ...mcpMutants,
  ...metricsMutants,
];
