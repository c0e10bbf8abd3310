import type { Benchmark, Figure, Samples, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { EventRows } from "../processes/event-rows.ts";
import { cpuFigures, withCpu } from "../support/cpu.ts";
import { makeEvents, type QueueProcess } from "../support/queue.ts";
import { perSecond } from "../support/rate.ts";
import { QueueFiles } from "../support/sqlite.ts";

const CONVERSATIONS = 4_000;

/** A bot's default `CONCURRENCY`. */
const DEFAULT = 16;

/**
 * `CONCURRENCY` for a busy bot whose handlers spend their time waiting for the platform. Outcomes recorded in the same
 * event loop turn share a commit.
 */
const BUSY = 1_000;

const unit = "events/s";

const plainjob: Figure = { name: "plainjob", sample: "plainjob", unit };
/** The upper limit for one thread that marks each event in a commit before its handler, and ends it in a later one. */
const loop: Figure = {
  name: `SQLite, the same statements, ${DEFAULT} events per transaction`,
  ...{ sample: "loop", unit, against: "plainjob" },
};
const ours: Figure = {
  ...{
    name: `dispatch from SQLite, ${DEFAULT} lanes at once`,
    sample: "default",
    unit,
    against: "plainjob",
  },
  target: { number: 4, bound: 5, is: "at least" },
};
const busy: Figure = {
  ...{
    name: `dispatch from SQLite, ${BUSY} lanes at once`,
    sample: "busy",
    unit,
    against: "plainjob",
  },
};

/**
 * Measures events drained per second from an SQLite file with no-op handlers. service-bot orders each conversation,
 * deduplicates, counts each attempt before it begins and writes every outcome to disk. plainjob does none of these.
 */
export const benchmark: Benchmark = {
  title:
    "20,000 events drained from SQLite by one process, handlers that do nothing (--quick: 5,000)",
  warmUpRounds: 3,
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 5_000 : 20_000;
    const files = new QueueFiles();
    const rows = new Child<EventRows>("processes/event-rows.ts", { side: "measured" });
    const bare = async () => {
      return { loop: perSecond(count, await rows.call("drain", count, CONVERSATIONS, DEFAULT)) };
    };
    const subject =
      (name: string, process: Child<QueueProcess>, concurrency?: number) =>
      async (): Promise<Samples> => {
        await process.call("fill", makeEvents(count, CONVERSATIONS));
        return await withCpu(name, process, count, async () => {
          const { ms } = await process.call("drain", count, concurrency);
          return { [name]: perSecond(count, ms) };
        });
      };
    return {
      subjects: [
        subject("default", await files.ours("default"), DEFAULT),
        subject("busy", await files.ours("busy"), BUSY),
        subject("plainjob", await files.peer("plainjob")),
        bare,
      ],
      figures: [plainjob, loop, ours, busy, ...cpuFigures(ours, plainjob)],
      close: async () => {
        await files.close();
        await rows.call("close");
        await rows.stop();
      },
    };
  },
};
