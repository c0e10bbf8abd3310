import { frozenInstances } from "./scenarios/postgres/freezes.ts";
import { testSmall } from "./small.ts";

testSmall(frozenInstances);
