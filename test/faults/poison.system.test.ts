import { poison } from "./scenarios/poison.ts";
import { testSmall } from "./small.ts";

testSmall(poison);
