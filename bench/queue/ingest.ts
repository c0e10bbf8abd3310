import type { Benchmark, Figure, Samples, Stage } from "../harness/benchmark.ts";
import type { Child } from "../harness/child.ts";
import { Queues } from "../support/postgres.ts";
import { inBatches, makeEvents, type QueueProcess } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";
import { costFigures } from "../support/writes.ts";

const BATCH = 50;
const CONVERSATIONS = 4_000;

const unit = "events/s";

const graphile: Figure = { name: "graphile-worker, addJobs", sample: "graphile", unit };
const ours: Figure = { name: "the inbox", sample: "ours", unit, against: "graphile" };

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
      const { ms, costs } = await queues.withCosts(name, count, () =>
        process.call("ingest", batches),
      );
      await process.call("drain", count);
      return { [name]: perSecond(count, ms), ...costs };
    };
    const [inbox, worker, boss] = await Promise.all([
      queues.ours(),
      queues.peer("graphile-worker"),
      queues.peer("pg-boss"),
    ]);
    return {
      subjects: [subject("ours", inbox), subject("graphile", worker), subject("boss", boss)],
      figures: [
        graphile,
        { name: "pg-boss, insert", sample: "boss", unit },
        ours,
        ...costFigures(ours, graphile),
      ],
      close: () => queues.close(),
    };
  },
};
