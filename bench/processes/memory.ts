import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
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
    bot = new Bot({ env });
    bot.on("dm.message", () => Promise.resolve());
    const peak = await peakDuring(async () => {
      await bot?.start({ standalone: false });
      await bot?.idle();
    });
    await sleep(REST_MS);
    return { peak, rest: process.memoryUsage.rss() };
  },
  /** Parses an event `count` times, `together` at a time. Each waits for the next turn of the event loop. */
  parse: async (text: string, count: number, together: number): Promise<number> => {
    const idle = process.memoryUsage.rss();
    let left = count;
    const lane = async () => {
      while (left-- > 0) {
        const event: unknown = JSON.parse(text);
        await nextTurn();
        if (event === null) throw new Error("no event");
      }
    };
    const lanes = () => Promise.all(Array.from({ length: together }, lane));
    return (await peakDuring(lanes)) - idle;
  },
  stop: (): Promise<void> | undefined => bot?.stop(),
};

/** Returns the highest resident memory during the work, in bytes. */
async function peakDuring(work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const looking = setInterval(look, INTERVAL_MS);
  await work();
  clearInterval(looking);
  look();
  return peak;
}

export type MemoryProcess = typeof handlers;

answer(handlers);
