import { terminations } from "./scenarios/postgres/outages.ts";
import { testSmall } from "./small.ts";

testSmall(terminations);
