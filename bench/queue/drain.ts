import type { Benchmark, Figure, Samples, Stage } from "../harness/benchmark.ts";
import type { Child } from "../harness/child.ts";
import { cpuFigures, withCpu } from "../support/cpu.ts";
import { Queues } from "../support/postgres.ts";
import { makeEvents, type QueueProcess } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";
import { costFigures } from "../support/writes.ts";

const CONVERSATIONS = 4_000;

const unit = "events/s";

const graphile: Figure = { name: "graphile-worker, local queue", sample: "graphile", unit };
const ours: Figure = {
  ...{ name: "dispatch from PostgreSQL", sample: "ours", unit, against: "graphile" },
  target: { number: 8, bound: 1.2, is: "at least" },
};

/**
 * Measures events drained per second with no-op handlers. service-bot orders each conversation, deduplicates and keeps
 * finished events. The peers do none of this.
 */
export const benchmark: Benchmark = {
  title:
    "20,000 events drained from PostgreSQL by one process, handlers that do nothing (--quick: 8,000)",
  warmUpRounds: 3,
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 8_000 : 20_000;
    const queues = await Queues.start();
    const subject = (name: string, process: Child<QueueProcess>) => async (): Promise<Samples> => {
      await process.call("fill", makeEvents(count, CONVERSATIONS));
      await queues.settle();
      return await withCpu(name, process, count, async () => {
        const { ms, costs } = await queues.withCosts(name, count, () =>
          process.call("drain", count),
        );
        return { [name]: perSecond(count, ms), ...costs };
      });
    };
    return {
      subjects: [
        subject("ours", await queues.ours()),
        subject("graphile", await queues.peer("graphile-worker")),
        subject("boss", await queues.peer("pg-boss")),
      ],
      figures: [
        graphile,
        { name: "pg-boss, a handler for 500 jobs", sample: "boss", unit },
        ours,
        ...cpuFigures(ours, graphile),
        ...costFigures(ours, graphile),
      ],
      close: () => queues.close(),
    };
  },
};
