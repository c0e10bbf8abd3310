import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { type AnyEvent, Bot, type ChannelMessages } from "../../src/index.ts";
import { testBot } from "../../src/testing/index.ts";
import { cpuTimeMs } from "../faces/core.ts";
import { subscribe } from "../faces/observe.ts";

// Handles two messages at once in the way that the argument names, and prints the reported blocks.

type Handle = (isFirst: boolean, reply: () => Promise<unknown>) => unknown;

/** Takes CPU time, because the machine may be busy. */
const compute = (ms: number) => {
  for (const end = cpuTimeMs() + ms; cpuTimeMs() < end; );
};

/** Stops this process for longer than a block. A shell continues it. */
const stop = () => {
  spawn("sh", ["-c", `sleep 1.5; kill -CONT ${process.pid}`], { stdio: "ignore" });
  process.kill(process.pid, "SIGSTOP");
};

const handlers: Readonly<Record<string, Handle>> = {
  compute: (isFirst) => isFirst && compute(1_200),
  wait(isFirst) {
    if (isFirst) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
  },
  async reply(isFirst, reply) {
    await reply();
    if (isFirst) compute(1_200);
  },
  async timer(isFirst) {
    await setTimeout(isFirst ? 5 : 200);
    if (isFirst) compute(1_300);
  },
  outside(isFirst) {
    if (isFirst) setImmediate(compute, 1_400);
  },
  lane: () => undefined,
  stop(isFirst) {
    if (!isFirst) return;
    compute(300);
    stop();
    compute(100);
  },
  async idle(isFirst) {
    await setTimeout(10);
    if (isFirst) void setTimeout(10).then(stop);
    await setTimeout(500);
  },
};

const [way = "", rounds = "1"] = process.argv.slice(2);
const handle = handlers[way];
const isFirst = ({ payload }: AnyEvent) => "excerpt" in payload && payload.excerpt === "first";

/** The bot's lane option. */
const lane = (event: AnyEvent): string => {
  if (isFirst(event)) compute(1_200);
  return event.id;
};

const bot = await testBot((options) =>
  new Bot(way === "lane" ? { ...options, lane } : options).on("dm.message", (ctx) =>
    handle?.(isFirst(ctx.event), () => ctx.reply("hi")),
  ),
);
subscribe(bot.bot, {
  blocked({ ms, isCertain, suspects }: ChannelMessages["blocked"]) {
    process.stdout.write(`${JSON.stringify({ ms, isCertain, suspects })}\n`);
  },
});
for (let round = 0; round < Number(rounds); round++) {
  await Promise.all([bot.dm("first", { from: "ada" }), bot.dm("second", { from: "bea" })]);
}
// A report may wait for the signal that continues a stopped process.
await setTimeout(300);
await bot.close();
