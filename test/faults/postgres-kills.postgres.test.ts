import { instanceKills } from "./scenarios/postgres/kills.ts";
import { testSmall } from "./small.ts";

testSmall(instanceKills);
