import type { Benchmark, Samples, Stage } from "../harness/benchmark.ts";
import type { Child } from "../harness/child.ts";
import { makeEvents, type QueueProcess } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";
import { QueueFiles } from "../support/sqlite.ts";

const CONVERSATIONS = 4_000;

/**
 * What `CONCURRENCY` a busy bot has: handlers wait for the platform, 100 ms and more, so that 1,000 events in a
 * second and a peak above that need some hundred places. What ends in one turn of the event loop shares a commit.
 */
const BUSY = 1_000;

/** The default of `CONCURRENCY`. */
const DEFAULT = 16;

/**
 * Events drained per second from a file, with handlers that do nothing. Ours keeps the order of each
 * conversation, finds repeats, counts attempts before they begin, and has what was done on disk; the peers are spared that.
 */
export const benchmark: Benchmark = {
  title:
    "20,000 events drained from SQLite by one process, handlers that do nothing (--quick: 5,000)",
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 5_000 : 20_000;
    const files = new QueueFiles();
    const subject =
      (name: string, process: Child<QueueProcess>, events: number, concurrency?: number) =>
      async (): Promise<Samples> => {
        await process.call("fill", makeEvents(events, CONVERSATIONS));
        const { ms } = await process.call("drain", events, concurrency);
        return { [name]: perSecond(events, ms) };
      };
    return {
      subjects: [
        subject("busy", await files.ours("busy"), count, BUSY),
        subject("default", await files.ours("default"), count, DEFAULT),
        subject("plainjob", await files.peer("plainjob"), count),
        // Less than a tenth as quick: as many would take longer than all else.
        subject("boringnode", await files.peer("boringnode-queue"), count / 10),
      ],
      figures: [
        { name: "plainjob", sample: "plainjob", unit: "events/s" },
        { name: "@boringnode/queue on knex", sample: "boringnode", unit: "events/s" },
        {
          name: `the inbox, ${BUSY} lanes at once`,
          sample: "busy",
          unit: "events/s",
          against: "plainjob",
          target: { number: 4, bound: 5, is: "at least" },
        },
        {
          name: "the same, again",
          sample: "busy",
          unit: "events/s",
          against: "boringnode",
          target: { number: 4, bound: 3, is: "at least" },
        },
        {
          name: `the inbox, ${DEFAULT} lanes at once`,
          sample: "default",
          unit: "events/s",
          against: "plainjob",
          target: { number: 4, bound: 5, is: "at least" },
        },
      ],
      close: () => files.close(),
    };
  },
};
