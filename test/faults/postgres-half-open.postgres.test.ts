import { halfOpen } from "./scenarios/postgres/outages.ts";
import { testSmall } from "./small.ts";

testSmall(halfOpen);
