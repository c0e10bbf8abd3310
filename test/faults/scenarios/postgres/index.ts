import type { Scenario } from "../../scenario.ts";
import { clockJumps } from "./clocks.ts";
import { frozenInstances } from "./freezes.ts";
import { instanceKills } from "./kills.ts";
import { leaderChurn } from "./leaders.ts";
import { databaseRestarts, halfOpen, terminations } from "./outages.ts";

/** Several bots on one inbox in PostgreSQL. */
export const postgresScenarios: readonly Scenario[] = [
  instanceKills,
  frozenInstances,
  databaseRestarts,
  halfOpen,
  terminations,
  clockJumps,
  leaderChurn,
];
