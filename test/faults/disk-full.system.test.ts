import { diskFull } from "./scenarios/disk-full.ts";
import { testSmall } from "./small.ts";

testSmall(diskFull);
