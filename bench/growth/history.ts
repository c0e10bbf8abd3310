import type { Benchmark, Stage, Target } from "../harness/benchmark.ts";
import { type Rates, StoredInboxes } from "../support/stored.ts";

const target: Target = { number: 9, bound: 0.9, is: "at least" };

export const benchmark: Benchmark = {
  title:
    "20,000 events stored and dispatched, in a file with 5,000,000 events and in an empty file (--quick: 10,000 with 200,000)",
  prepare({ quick }): Promise<Stage> {
    const count = quick ? 10_000 : 20_000;
    const done = quick ? 200_000 : 5_000_000;
    const inboxes = new StoredInboxes();
    const subject = (name: string, run: (count: number) => Promise<Rates>) => async () => {
      const { ingest, dispatch } = await run(count);
      return { [`${name} ingest`]: ingest, [`${name} dispatch`]: dispatch };
    };
    return Promise.resolve({
      subjects: [subject("empty", inboxes.add(0)), subject("full", inboxes.add(done))],
      figures: [
        { name: "stored in an empty file", sample: "empty ingest", unit: "events/s" },
        {
          name: "stored in a file with 5,000,000 events",
          sample: "full ingest",
          unit: "events/s",
          against: "empty ingest",
          target,
        },
        { name: "dispatched from an empty file", sample: "empty dispatch", unit: "events/s" },
        {
          name: "dispatched from a file with 5,000,000 events",
          sample: "full dispatch",
          unit: "events/s",
          against: "empty dispatch",
          target,
        },
      ],
      close: () => inboxes.close(),
    });
  },
};
