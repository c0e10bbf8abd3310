import { clusterCounting } from "./scenarios/counting.ts";
import { leaderChurn } from "./scenarios/leaders.ts";
import { sharedCluster } from "./scenarios/postgres.ts";
import { clusterTimers } from "./scenarios/timers.ts";
import { testSmall } from "./test-small.ts";

for (const scenario of [sharedCluster, clusterCounting, clusterTimers, leaderChurn]) {
  testSmall(scenario, `no promise is broken: ${scenario.name}`);
}
