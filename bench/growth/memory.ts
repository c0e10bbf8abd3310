import type { Benchmark, Figure, Samples, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { MemoryProcess } from "../processes/memory.ts";
import { makeFolder } from "../support/folder.ts";
import { copyHistory } from "../support/history.ts";

/** So many are drained before: code is compiled by then, and the heap has the size that it needs. */
const WARM_UP = 20_000;

/** The default of `CONCURRENCY`, and that of a busy bot, as bench/dispatch/drain.ts has them. */
const LANES = [16, 1_000];

const MB = 2 ** 20;

/** The memory of a process that drains a long backlog, beside what it has when it is idle. */
export const benchmark: Benchmark = {
  title: "1,000,000 waiting events drained from SQLite, memory of the process (--quick: 20,000)",
  warmUp: false,
  prepare({ quick }): Promise<Stage> {
    const pending = WARM_UP + (quick ? 20_000 : 1_000_000);
    const folder = makeFolder();
    const file = folder.file("backlog.db");
    const subject = (concurrency: number) => async (): Promise<Samples> => {
      copyHistory({ done: 0, pending }, file);
      const process = new Child<MemoryProcess>("processes/memory.ts");
      const fresh = await process.call("open", file, concurrency);
      const idle = await process.call("warmUp", WARM_UP);
      const peak = await process.call("drain");
      await process.call("close");
      await process.stop();
      return {
        [`fresh ${concurrency}`]: fresh / MB,
        [`idle ${concurrency}`]: idle / MB,
        [`more ${concurrency}`]: (peak - idle) / MB,
      };
    };
    const figures = (concurrency: number): Figure[] => [
      {
        ...{ name: `${concurrency} lanes at once, before anything`, unit: "MB" },
        sample: `fresh ${concurrency}`,
      },
      {
        ...{ name: `${concurrency} lanes at once, idle after a first drain`, unit: "MB" },
        sample: `idle ${concurrency}`,
      },
      {
        ...{ name: `${concurrency} lanes at once, more while draining, at most`, unit: "MB" },
        sample: `more ${concurrency}`,
        target: { number: 5, bound: 64, is: "at most" },
      },
    ];
    return Promise.resolve({
      subjects: LANES.map(subject),
      figures: LANES.flatMap(figures),
      close: () => Promise.resolve(folder.remove()),
    });
  },
};
