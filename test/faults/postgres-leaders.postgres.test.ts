import { leaderChurn } from "./scenarios/postgres/leaders.ts";
import { testSmall } from "./small.ts";

testSmall(leaderChurn);
