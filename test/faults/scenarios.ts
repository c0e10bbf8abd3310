import { modelScenario } from "./model/model.ts";
import { powerLoss, powerLossControl } from "./power-loss/power-loss.ts";
import type { Scenario } from "./scenario.ts";
import { apiFaults } from "./scenarios/api-faults.ts";
import { clusterCounting, counting } from "./scenarios/counting.ts";
import { diskFull } from "./scenarios/disk-full.ts";
import { duplicates } from "./scenarios/duplicates.ts";
import { failpoints } from "./scenarios/failpoints.ts";
import { kills } from "./scenarios/kills.ts";
import { leaderChurn } from "./scenarios/leaders.ts";
import { poison } from "./scenarios/poison.ts";
import { clusterScenarios } from "./scenarios/postgres.ts";
import { restores } from "./scenarios/restores.ts";
import { stops } from "./scenarios/stops.ts";
import { clusterTimers, timers } from "./scenarios/timers.ts";

export const botScenarios: readonly Scenario[] = [
  ...[kills, failpoints, duplicates, diskFull],
  ...[apiFaults, poison, stops, restores],
  ...[counting, timers],
];

/** The scenarios in the order of the report. */
export const scenarios: readonly Scenario[] = [
  ...botScenarios,
  powerLoss,
  powerLossControl("NORMAL"),
  modelScenario,
  ...clusterScenarios,
  ...[clusterCounting, clusterTimers],
  leaderChurn,
];
