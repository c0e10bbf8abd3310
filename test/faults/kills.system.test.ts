import { kills } from "./scenarios/kills.ts";
import { testSmall } from "./small.ts";

testSmall(kills);
