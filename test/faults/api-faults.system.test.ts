import { apiFaults } from "./scenarios/api-faults.ts";
import { testSmall } from "./small.ts";

testSmall(apiFaults);
