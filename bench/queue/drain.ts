import type { Benchmark, Samples, Stage } from "../harness/benchmark.ts";
import type { Child } from "../harness/child.ts";
import { Queues } from "../support/postgres.ts";
import { makeEvents, type QueueProcess } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";

const CONVERSATIONS = 4_000;

/**
 * Events drained per second with handlers that do nothing. Ours keeps the order of each
 * conversation, finds repeats and keeps what is done; the peers are spared that.
 */
export const benchmark: Benchmark = {
  title:
    "20,000 events drained from PostgreSQL by one process, handlers that do nothing (--quick: 8,000)",
  quickRounds: 1,
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 8_000 : 20_000;
    const queues = await Queues.start();
    const subject =
      (name: string, process: Child<QueueProcess>, events = count) =>
      async (): Promise<Samples> => {
        await process.call("fill", makeEvents(events, CONVERSATIONS));
        await queues.settle();
        const { ms, trips } = await process.call("drain", events);
        return { [name]: perSecond(events, ms), [`${name} trips`]: trips / events };
      };
    const [ours, graphile, boss, each] = await Promise.all([
      queues.ours(),
      queues.peer("graphile-worker"),
      queues.peer("pg-boss"),
      queues.peer("pg-boss-each"),
    ]);
    return {
      subjects: [
        subject("ours", ours),
        subject("graphile", graphile),
        subject("boss", boss),
        // Takes six times as long as all others together.
        subject("each", each, quick ? count / 8 : count),
      ],
      figures: [
        { name: "graphile-worker, local queue", sample: "graphile", unit: "events/s" },
        { name: "pg-boss, a handler for 500 jobs", sample: "boss", unit: "events/s" },
        { name: "pg-boss, a handler for each job", sample: "each", unit: "events/s" },
        { name: "the inbox", sample: "ours", unit: "events/s", against: "graphile" },
        { name: "the inbox, again", sample: "ours", unit: "events/s", against: "boss" },
        { name: "the inbox, once more", sample: "ours", unit: "events/s", against: "each" },
        { name: "graphile-worker, round trips", sample: "graphile trips", unit: "per event" },
        { name: "pg-boss, round trips", sample: "boss trips", unit: "per event" },
        { name: "the same for each job", sample: "each trips", unit: "per event" },
        { name: "the inbox, round trips", sample: "ours trips", unit: "per event" },
      ],
      close: () => queues.close(),
    };
  },
};
