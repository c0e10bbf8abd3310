import { clockJumps } from "./scenarios/postgres/clocks.ts";
import { testSmall } from "./small.ts";

testSmall(clockJumps);
