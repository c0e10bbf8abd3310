import { duplicates } from "./scenarios/duplicates.ts";
import { testSmall } from "./small.ts";

testSmall(duplicates);
