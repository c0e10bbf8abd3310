import type { Benchmark } from "../harness/benchmark.ts";
import { besideHotLane, LANES, LIMIT } from "../support/hot-lane.ts";
import { QueueFiles } from "../support/sqlite.ts";

/** One lane with 100,000 events beside 20,000 lanes, beside the same without it: in a file. */
export const benchmark: Benchmark = {
  title: `20,000 lanes claimed and completed in SQLite, ${LIMIT} at a time, beside a lane with 100,000 events (--quick: 8,000)`,
  prepare: ({ quick }) =>
    besideHotLane(new QueueFiles(), {
      lanes: quick ? 8_000 : LANES,
      target: { number: 5, bound: 0.9, is: "at least" },
    }),
};
