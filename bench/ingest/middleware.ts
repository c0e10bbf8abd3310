import type { Benchmark, Stage } from "../harness/benchmark.ts";
import { Ingest } from "../support/ingest.ts";

/** The same through Express: our middleware, beside an application that verifies, parses and stores nothing. */
export const benchmark: Benchmark = {
  title: "10,000 deliveries of one event to Express, 64 connections (--quick: 2,000)",
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 2_000 : 10_000;
    const ingest = new Ingest();
    const unit = "requests/s";
    return {
      subjects: [
        ingest.subject("express", await ingest.peer("express", "service"), count),
        ingest.subject("ours", await ingest.ours("express"), count),
      ],
      figures: [
        { name: "Express, express.raw, HMAC, JSON.parse", sample: "express", unit },
        {
          ...{ name: "our middleware, stored", sample: "ours", unit, against: "express" },
          target: { number: 2, bound: 0.9, is: "at least" },
        },
      ],
      close: () => ingest.close(),
    };
  },
};
