import type { Benchmark, Samples, Stage } from "../harness/benchmark.ts";
import { Queues } from "../support/postgres.ts";
import { makeEvents } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";

const CONVERSATIONS = 4_000;

/** Two instances on one database, beside one. The database runs on the same cores. */
export const benchmark: Benchmark = {
  title: "20,000 events drained by two instances, and by one (--quick: 8,000)",
  quickRounds: 1,
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 8_000 : 20_000;
    const queues = await Queues.start();
    const first = await queues.ours();
    const second = await queues.ours();
    const subject =
      (name: string, instances: readonly (typeof first)[]) => async (): Promise<Samples> => {
        await first.call("fill", makeEvents(count, CONVERSATIONS));
        await queues.settle();
        const started = performance.now();
        const drained = await Promise.all(
          instances.map((instance) => instance.call("drain", count)),
        );
        const ms = performance.now() - started;
        const trips = drained.reduce((sum, each) => sum + each.trips, 0);
        return { [name]: perSecond(count, ms), [`${name} trips`]: trips / count };
      };
    return {
      subjects: [subject("one", [first]), subject("two", [first, second])],
      figures: [
        { name: "one instance", sample: "one", unit: "events/s" },
        { name: "two instances", sample: "two", unit: "events/s", against: "one" },
        { name: "one instance, round trips", sample: "one trips", unit: "per event" },
        { name: "two instances, round trips", sample: "two trips", unit: "per event" },
      ],
      close: () => queues.close(),
    };
  },
};
