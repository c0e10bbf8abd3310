import type { Benchmark, Samples, Stage } from "../harness/benchmark.ts";
import { Queues } from "../support/postgres.ts";
import { makeEvents } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";

const LANES = 20_000;
const HOT = 100_000;

/** Lanes that are leased by one statement. */
const LIMIT = 50;

/** One lane with 100,000 events beside 20,000 lanes, beside the same without it. */
export const benchmark: Benchmark = {
  title: `20,000 lanes claimed and completed, ${LIMIT} at a time, beside a lane with 100,000 events (--quick: 4,000)`,
  async prepare({ quick }): Promise<Stage> {
    const queues = await Queues.start();
    const lanes = quick ? LANES / 5 : LANES;
    const subject = async (name: string, hot: number) => {
      const process = await queues.ours(`bench_${name}`);
      await process.call("fill", makeEvents(hot, 1));
      return async (): Promise<Samples> => {
        await process.call("fill", makeEvents(LANES, LANES));
        await queues.settle();
        const { ms } = await process.call("claim", lanes, LIMIT);
        if (lanes < LANES) await process.call("claim", LANES - lanes, LIMIT);
        return { [name]: perSecond(lanes, ms) };
      };
    };
    return {
      subjects: [await subject("plain", 0), await subject("hot", HOT)],
      figures: [
        { name: "without the hot lane", sample: "plain", unit: "claims/s" },
        { name: "beside the hot lane", sample: "hot", unit: "claims/s", against: "plain" },
      ],
      close: () => queues.close(),
    };
  },
};
