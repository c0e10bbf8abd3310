import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Benchmark, Figure, Samples, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { MemoryProcess } from "../processes/memory.ts";
import { makeBot } from "../support/bot.ts";
import { copyHistory } from "../support/history.ts";
import { eventId, messageEvent } from "../support/message.ts";

const LANES = 1_000;

const MB = 2 ** 20;

export const benchmark: Benchmark = {
  title: `memory of a bot that handles 1,000,000 waiting events from SQLite, CONCURRENCY=${LANES} (--quick: 50,000)`,
  quickRounds: 1,
  warmUpRounds: 0,
  async prepare({ quick }): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), "service-bot-bench-"));
    const bot = await makeBot(folder);
    const entry = join(bot, "node_modules", "service-bot", "dist", "index.js");
    // The measured process runs TypeScript. With a warm compile cache, it never loads the type stripper, which would
    // add to its memory.
    const env = { NODE_COMPILE_CACHE: join(folder, "cache") };
    const inLimit = { ...env, ...(await memorySettings(bot)) };
    const count = quick ? 50_000 : 1_000_000;
    const measure = async (backlog: number, env: Environment) => {
      const run = (process: Child<MemoryProcess>, pending: number) => {
        const file = join(folder, `${pending}.db`);
        copyHistory({ done: 0, pending }, file);
        return process.call("run", pathToFileURL(entry).href, file, LANES);
      };
      return await inProcess(env, async (process) => {
        const { rest: idle } = await run(process, 0);
        const { peak, rest } = await run(process, backlog);
        await process.call("stop");
        return { idle: idle / MB, more: (peak - idle) / MB, after: (rest - idle) / MB };
      });
    };
    const bare = (): Promise<Samples> => {
      const text = JSON.stringify(messageEvent({ id: eventId(1), conversation: "c_1" }));
      return inProcess(env, async (process) => {
        return { bare: (await process.call("parse", text, count, LANES)) / MB };
      });
    };
    const contained = async (): Promise<Samples> => {
      return { contained: (await measure(count, inLimit)).more };
    };
    // Fill the compile cache before the first round.
    await measure(0, env);
    return {
      subjects: [() => measure(count, env), contained, bare],
      figures,
      close: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    };
  },
};

type Environment = Readonly<Record<string, string>>;

async function inProcess<T>(
  env: Environment,
  work: (process: Child<MemoryProcess>) => Promise<T>,
): Promise<T> {
  const process = new Child<MemoryProcess>("processes/memory.ts", {
    ...{ side: "measured", output: "ignore", env },
  });
  const result = await work(process);
  await process.stop();
  return result;
}

/** Returns the variables that limit memory in the bot's container. */
async function memorySettings(bot: string): Promise<Environment> {
  const dockerfile = await read(bot, "Dockerfile");
  const [, NODE_OPTIONS] = /^ENV NODE_OPTIONS="(.*)"$/m.exec(dockerfile) ?? [];
  const [, MALLOC_ARENA_MAX] = /^ENV MALLOC_ARENA_MAX=(\d+)$/m.exec(dockerfile) ?? [];
  const [, limit] = /mem_limit: (\d+)m/.exec(await read(bot, "compose.yaml")) ?? [];
  if (NODE_OPTIONS === undefined || MALLOC_ARENA_MAX === undefined || limit === undefined) {
    throw new Error("the bot's files lack a setting");
  }
  const inMegabytes = (_: string, percentage: string) =>
    `=${Math.floor((Number(percentage) / 100) * Number(limit))}`;
  return {
    MALLOC_ARENA_MAX,
    NODE_OPTIONS: NODE_OPTIONS.replace(/(?<=--max-old-space-size)-percentage=(\d+)/, inMegabytes),
  };
}

function read(bot: string, file: string): Promise<string> {
  return readFile(join(bot, file), "utf8");
}

const figures: readonly Figure[] = [
  { name: "idle, before the first event", sample: "idle", unit: "MB" },
  {
    ...{ name: "peak above idle while handling 1,000,000 events", sample: "more", unit: "MB" },
    target: { number: 6, bound: 64, is: "at most" },
  },
  {
    ...{ name: "the same with the settings of the starter's container", sample: "contained" },
    ...{ unit: "MB", target: { number: 6, bound: 64, is: "at most" } },
  },
  { name: "above idle after the last event", sample: "after", unit: "MB" },
  {
    ...{ name: "JSON.parse, 1,000,000 times, 1,000 at a time: peak above idle", sample: "bare" },
    unit: "MB",
  },
];
