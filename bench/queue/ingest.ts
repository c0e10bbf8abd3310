import type { Benchmark, Samples, Stage } from "../harness/benchmark.ts";
import type { Child } from "../harness/child.ts";
import { Queues } from "../support/postgres.ts";
import { inBatches, makeEvents, type QueueProcess } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";

const BATCH = 50;
const CONVERSATIONS = 4_000;

/** Stores deliveries of 50 events in the database one after the other, with one call each. */
export const benchmark: Benchmark = {
  title: `20,000 events into PostgreSQL, ${BATCH} at a time, by one process (--quick: 5,000)`,
  quickRounds: 1,
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 5_000 : 20_000;
    const queues = await Queues.start();
    const subject = (name: string, process: Child<QueueProcess>) => async (): Promise<Samples> => {
      await queues.settle();
      const batches = inBatches(makeEvents(count, CONVERSATIONS), BATCH);
      const { ms } = await process.call("ingest", batches);
      await process.call("drain", count);
      return { [name]: perSecond(count, ms) };
    };
    const [ours, graphile, boss] = await Promise.all([
      queues.ours(),
      queues.peer("graphile-worker"),
      queues.peer("pg-boss"),
    ]);
    return {
      subjects: [subject("ours", ours), subject("graphile", graphile), subject("boss", boss)],
      figures: [
        { name: "graphile-worker, addJobs", sample: "graphile", unit: "events/s" },
        { name: "pg-boss, insert", sample: "boss", unit: "events/s" },
        { name: "the inbox", sample: "ours", unit: "events/s", against: "graphile" },
      ],
      close: () => queues.close(),
    };
  },
};
