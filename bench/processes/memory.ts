import { setTimeout as sleep } from "node:timers/promises";
import { answer } from "../harness/child.ts";
import { webhookEnv } from "../support/webhook-bot.ts";

type ServiceBot = typeof import("../../src/index.ts");
type Bot = InstanceType<ServiceBot["Bot"]>;

const INTERVAL_MS = 50;

/** Idle time before memory is measured, in ms. By then, the bot's background work has ended. */
const REST_MS = 500;

let bot: Bot | undefined;

/** Measures resident memory, in bytes, of a process that runs the packed package. */
const handlers = {
  /**
   * Starts a bot on a file and handles every waiting event. First stops the bot from an earlier call.
   *
   * @param entry path of the package's entry file
   */
  run: async (
    entry: string,
    file: string,
    concurrency: number,
  ): Promise<{ readonly peak: number; readonly rest: number }> => {
    await bot?.stop();
    const { Bot }: ServiceBot = await import(entry);
    const env = { ...webhookEnv(`file:${file}`, "warn"), CONCURRENCY: String(concurrency) };
    bot = new Bot({ loopGuard: false, env });
    bot.on("dm.message", () => Promise.resolve());
    let peak = 0;
    const look = () => {
      peak = Math.max(peak, process.memoryUsage.rss());
    };
    const looking = setInterval(look, INTERVAL_MS);
    await bot.start({ standalone: false });
    await bot.idle();
    clearInterval(looking);
    look();
    await sleep(REST_MS);
    return { peak, rest: process.memoryUsage.rss() };
  },
  stop: (): Promise<void> | undefined => bot?.stop(),
};

export type MemoryProcess = typeof handlers;

answer(handlers);
