import type { Benchmark, Samples, Stage } from "../harness/benchmark.ts";
import { makeEvents } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";
import { QueueFiles } from "../support/sqlite.ts";

const HOT = 100_000;

const LIMIT = 50;

const unit = "claims/s";

/** Measures claims with and without a hot lane, which must not slow down the claims of other lanes. */
export const benchmark: Benchmark = {
  title: `20,000 lanes claimed and completed in SQLite, ${LIMIT} at a time, while another lane has 100,000 events (--quick: 8,000)`,
  async prepare({ quick }): Promise<Stage> {
    const lanes = quick ? 8_000 : 20_000;
    const files = new QueueFiles();
    const subject = async (name: string, waiting: number) => {
      const process = await files.ours(name);
      await process.call("fill", makeEvents(waiting, 1));
      return async (): Promise<Samples> => {
        await process.call("fill", makeEvents(lanes, lanes));
        const { ms } = await process.call("claim", lanes, LIMIT);
        return { [name]: perSecond(lanes, ms) };
      };
    };
    return {
      subjects: [await subject("plain", 0), await subject("hot", HOT)],
      figures: [
        { name: "lanes claimed, without a hot lane", sample: "plain", unit },
        {
          ...{ name: "lanes claimed, with a hot lane", sample: "hot", unit, against: "plain" },
          target: { number: 9, bound: 0.9, is: "at least" },
        },
      ],
      close: () => files.close(),
    };
  },
};
