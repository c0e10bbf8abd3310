import { leaderChurn } from "./scenarios/leaders.ts";
import { sharedCluster } from "./scenarios/postgres.ts";
import { testSmall } from "./test-small.ts";

for (const scenario of [sharedCluster, leaderChurn]) {
  testSmall(scenario, `no promise is broken: ${scenario.name}`);
}
