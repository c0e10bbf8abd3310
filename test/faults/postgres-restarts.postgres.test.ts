import { databaseRestarts } from "./scenarios/postgres/outages.ts";
import { testSmall } from "./small.ts";

testSmall(databaseRestarts);
