import type { Benchmark, Samples, Stage } from "../harness/benchmark.ts";
import { makeEvents } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";
import { QueueFiles } from "../support/sqlite.ts";

/** Events waiting in the hot lane. */
const HOT = 100_000;

/** Lanes leased per statement. */
const LIMIT = 50;

const unit = "claims/s";

/** Claims of 20,000 lanes with and without a lane of 100,000 events among them. */
export const benchmark: Benchmark = {
  title: `20,000 lanes claimed and completed in SQLite, ${LIMIT} at a time, beside a lane with 100,000 events (--quick: 8,000)`,
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
          ...{ name: "lanes claimed, beside a hot lane", sample: "hot", unit, against: "plain" },
          target: { number: 9, bound: 0.9, is: "at least" },
        },
      ],
      close: () => files.close(),
    };
  },
};
