import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { reservePort } from "../../test/support/reserve-port.ts";
import type { Benchmark, Figure, Samples, Setting, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { BarePlatform } from "../processes/platform.ts";
import { makeBot } from "../support/bot.ts";
import { type Program, start } from "../support/start.ts";

type Programs = Readonly<Record<string, Program>>;

const bots = [
  { sample: "webhook", words: "a bot, DELIVERY=webhook" },
  { sample: "auto", words: "a bot with default settings" },
  { sample: "fresh", words: "a bot without a database file yet" },
];

/** Compares the generated starter, which uses the packed service-bot, with a minimal Express server. */
export const benchmark: Benchmark = {
  title: "the starter, from `node dist/main.js` to the first 200 from /readyz, and its memory",
  warmUpRounds: 0,
  async prepare(setting): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), "service-bot-bench-"));
    const platform = new Child<BarePlatform>("processes/platform.ts", { side: "load" });
    const origin = await platform.call("listen");
    const programs = programsOf(await makeBot(folder), origin, folder);
    await startOnce(programs);
    return {
      subjects: [() => starts(programs, folder, setting), () => memories(programs, setting)],
      figures,
      close: async () => {
        await platform.stop();
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      },
    };
  },
};

const figures: readonly Figure[] = [
  { name: "Express, hello world: start", sample: "express", unit: "ms" },
  ...bots.map(
    ({ sample, words }): Figure => ({
      name: `${words}: start`,
      sample,
      unit: "ms",
      against: "express",
      target: { number: 10, bound: 2.5, is: "at most" },
    }),
  ),
  { name: "Express, hello world: idle memory", sample: "express memory", unit: "MiB" },
  ...bots.slice(0, 2).map(
    ({ sample, words }): Figure => ({
      name: `${words}: idle memory`,
      sample: `${sample} memory`,
      unit: "MiB",
      against: "express memory",
      target: { number: 10, bound: 1.5, is: "at most" },
    }),
  ),
  {
    ...{ name: "a bot with default settings: idle memory", sample: "auto memory", unit: "MiB" },
    target: { number: 6, bound: 85, is: "at most" },
  },
  { name: "the same from src/main.ts: start", sample: "source", unit: "ms" },
  { name: "the same from src/main.ts: idle memory", sample: "source memory", unit: "MiB" },
];

function programsOf(bot: string, origin: string, folder: string): Programs {
  const environment = (database: string) => ({
    SERVICE_BASE_URL: origin,
    SERVICE_API_KEY: "sbk_bench_bench",
    SERVICE_WEBHOOK_SECRET: "whsec_bench_bench",
    DATABASE_URL: `file:${join(folder, database)}`,
  });
  const peers = fileURLToPath(new URL("../peers/", import.meta.url));
  const auto = { cwd: bot, file: "dist/main.js", env: environment("auto.db"), path: "/readyz" };
  return {
    express: { cwd: peers, file: "express-hello.mjs", env: {}, path: "/" },
    webhook: { ...auto, env: { ...environment("webhook.db"), DELIVERY: "webhook" } },
    auto,
    source: { ...auto, file: "src/main.ts", env: environment("source.db") },
  };
}

/** Creates the database files, and loads the programs into the OS page cache. */
async function startOnce(programs: Programs): Promise<void> {
  for (const program of Object.values(programs)) {
    const { stop } = await start(program, await reservePort());
    await stop();
  }
}

/**
 * Starts the programs in turn. Returns the fastest start of each in ms, because other work on the machine can only slow
 * a start down.
 */
async function starts(programs: Programs, folder: string, { quick }: Setting): Promise<Samples> {
  const quickest: Record<string, number> = {};
  for (let turn = 0; turn < (quick ? 2 : 8); turn += 1) {
    const all = Object.entries({ ...programs, ...withoutFile(programs, folder, turn) });
    for (const [sample, program] of turn % 2 === 0 ? all : all.toReversed()) {
      const { ms, stop } = await start(program, await reservePort());
      await stop();
      quickest[sample] = Math.min(ms, quickest[sample] ?? Number.POSITIVE_INFINITY);
    }
  }
  return quickest;
}

function withoutFile({ auto }: Programs, folder: string, turn: number): Programs {
  if (auto === undefined) return {};
  const file = join(folder, `new-${process.hrtime.bigint()}-${turn}.db`);
  return { fresh: { ...auto, env: { ...auto.env, DATABASE_URL: `file:${file}` } } };
}

/** Measures all programs at once, two seconds after each is ready and without forcing a garbage collection. */
async function memories(programs: Programs, { quick }: Setting): Promise<Samples> {
  const samples: Record<string, number> = {};
  const measure = async ([name, program]: [string, Program]) => {
    const { memory, stop } = await start(program, await reservePort());
    await pause(quick ? 200 : 2_000);
    samples[`${name} memory`] = memory();
    await stop();
  };
  await Promise.all(Object.entries(programs).map(measure));
  return samples;
}
