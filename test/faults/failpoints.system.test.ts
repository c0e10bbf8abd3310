import { failpoints } from "./scenarios/failpoints.ts";
import { testSmall } from "./small.ts";

testSmall(failpoints);
