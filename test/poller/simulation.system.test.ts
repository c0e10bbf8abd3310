import { testSmall } from "../faults/test-small.ts";
import { simulate } from "./simulation/scenario.ts";

testSmall(
  simulate({ schedules: 30 }),
  "30 schedules of outages, up to two weeks long, break no promise of the poller",
);
