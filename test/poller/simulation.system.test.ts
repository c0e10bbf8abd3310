import { testSmall } from "../faults/test-small.ts";
import { simulate } from "./simulation/scenario.ts";

testSmall(
  simulate({ schedules: 60 }),
  "60 schedules of outages, up to two weeks long, break no promise of the poller",
);
