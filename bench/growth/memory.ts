import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Benchmark, Figure, Samples, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { MemoryProcess } from "../processes/memory.ts";
import { makeBot } from "../support/bot.ts";
import { copyHistory } from "../support/history.ts";

const LANES = 1_000;

const MB = 2 ** 20;

export const benchmark: Benchmark = {
  title: `memory of a bot that handles 1,000,000 waiting events from SQLite, CONCURRENCY=${LANES} (--quick: 50,000)`,
  quickRounds: 1,
  warmUpRounds: 0,
  async prepare({ quick }): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), "service-bot-bench-"));
    const modules = join(await makeBot(folder), "node_modules");
    const entry = pathToFileURL(join(modules, "service-bot", "dist", "index.js")).href;
    // The measured process runs TypeScript. With a warm compile cache, it never loads the type stripper, which would
    // add to its memory.
    const env = { NODE_COMPILE_CACHE: join(folder, "cache") };
    const measure = async (backlog: number): Promise<Samples> => {
      const process = new Child<MemoryProcess>("processes/memory.ts", {
        ...{ side: "measured", output: "ignore", env },
      });
      const run = (pending: number) => {
        const file = join(folder, `${pending}.db`);
        copyHistory({ done: 0, pending }, file);
        return process.call("run", entry, file, LANES);
      };
      const { rest: idle } = await run(0);
      const { peak, rest } = await run(backlog);
      await process.call("stop");
      await process.stop();
      return { idle: idle / MB, more: (peak - idle) / MB, after: (rest - idle) / MB };
    };
    // Fill the compile cache before the first round.
    await measure(0);
    return {
      subjects: [() => measure(quick ? 50_000 : 1_000_000)],
      figures,
      close: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    };
  },
};

const figures: readonly Figure[] = [
  { name: "idle, before the first event", sample: "idle", unit: "MB" },
  {
    ...{ name: "peak above idle while handling 1,000,000 events", sample: "more", unit: "MB" },
    headline: "service-bot: memory above idle with CONCURRENCY=1000",
    target: { number: 6, bound: 64, is: "at most" },
  },
  { name: "above idle after the last event", sample: "after", unit: "MB" },
];
