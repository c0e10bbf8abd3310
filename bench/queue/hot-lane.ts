import type { Benchmark } from "../harness/benchmark.ts";
import { besideHotLane, LANES, LIMIT } from "../support/hot-lane.ts";
import { Queues } from "../support/postgres.ts";

/** One lane with 100,000 events beside 20,000 lanes, beside the same without it. */
export const benchmark: Benchmark = {
  title: `20,000 lanes claimed and completed, ${LIMIT} at a time, beside a lane with 100,000 events (--quick: 4,000 beside 20,000)`,
  quickRounds: 1,
  prepare: async ({ quick }) =>
    besideHotLane(await Queues.start(), quick ? { lanes: 4_000, hot: 20_000 } : { lanes: LANES }),
};
