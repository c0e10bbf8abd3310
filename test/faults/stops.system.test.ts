import { stops } from "./scenarios/stops.ts";
import { testSmall } from "./small.ts";

testSmall(stops);
