import { modelScenario } from "./model/model.ts";
import { powerLoss, powerLossControl } from "./power-loss/power-loss.ts";
import type { Scenario } from "./scenario.ts";
import { apiFaults } from "./scenarios/api-faults.ts";
import { diskFull } from "./scenarios/disk-full.ts";
import { duplicates } from "./scenarios/duplicates.ts";
import { failpoints } from "./scenarios/failpoints.ts";
import { kills } from "./scenarios/kills.ts";
import { poison } from "./scenarios/poison.ts";
import { postgresScenarios } from "./scenarios/postgres/index.ts";
import { restores } from "./scenarios/restores.ts";
import { stops } from "./scenarios/stops.ts";

/** Everything that `npm run faults` runs, in this order. */
export const scenarios: readonly Scenario[] = [
  kills,
  failpoints,
  duplicates,
  diskFull,
  apiFaults,
  poison,
  stops,
  restores,
  powerLoss,
  powerLossControl("NORMAL"),
  modelScenario,
  ...postgresScenarios,
];
