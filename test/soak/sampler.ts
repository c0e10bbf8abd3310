import { existsSync, readdirSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Child } from "../../bench/harness/child.ts";
import type { BotSample, SoakBot } from "./bot.ts";

/** How a bot is doing at a moment. Sizes in bytes, times in milliseconds. */
export interface Sample extends BotSample {
  /** Seconds since the first sample. */
  readonly at: number;
  readonly file: number;
  readonly wal: number;
  /** Open file descriptors; absent where there is no /proc. */
  readonly descriptors?: number;
  /** Of the events that the load has made. */
  readonly sent: number;
}

export interface Sampled {
  readonly bot: Child<SoakBot>;
  readonly botPid: number;
  readonly databaseFile: string;
  readonly sent: () => number;
}

/** Asks the bot and the file system how the bot is doing, every so often until `signal` aborts. */
export async function sample(
  sampled: Sampled,
  everyMs: number,
  signal: AbortSignal,
  take: (sample: Sample) => void,
): Promise<void> {
  const began = performance.now();
  while (!signal.aborted) {
    const at = (performance.now() - began) / 1000;
    take(await sampleOf(sampled, at));
    await wait(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

async function sampleOf({ bot, botPid, databaseFile, sent }: Sampled, at: number): Promise<Sample> {
  const own = await bot.call("sample");
  const folder = `/proc/${botPid}/fd`;
  return {
    at,
    ...own,
    file: statSync(databaseFile).size,
    wal: statSync(`${databaseFile}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    ...(existsSync(folder) ? { descriptors: readdirSync(folder).length } : {}),
    sent: sent(),
  };
}
