import type { Bot } from "../../src/bot.ts";
import { answer } from "../harness/child.ts";
import { monotonicNow } from "../support/clock.ts";
import { makeFolder } from "../support/folder.ts";
import { makeWebhookBot, startOnPort } from "../support/webhook-bot.ts";

/** When the handler of an event began, by the number in the event's id. */
export type Begun = readonly (readonly [number: number, at: number])[];

/** A whole bot on a file, with a handler that notes when it begins and does nothing else. */
const folder = makeFolder();
let bot: Bot;
let begun = new Map<number, number>();
let awaited: { readonly count: number; done(): void } | undefined;

const handlers = {
  /** Resolves to its origin. @param logLevel LOG_LEVEL; without, the default */
  start: async (logLevel?: string): Promise<string> => {
    bot = makeWebhookBot(folder.file("bot.db"), logLevel);
    bot.on("dm.message", (ctx) => {
      const at = monotonicNow();
      begun.set(Number(ctx.event.id.slice("evt_".length)), at);
      if (begun.size === awaited?.count) awaited.done();
    });
    return await startOnPort(bot);
  },
  /** Waits until so many events have been handled, and nothing is left. Then it counts from 0 again. */
  handled: async (count: number): Promise<Begun> => {
    await new Promise<void>((resolve) => {
      awaited = { count, done: resolve };
      if (begun.size >= count) resolve();
    });
    await bot.idle();
    const all = [...begun];
    begun = new Map();
    return all;
  },
  now: (): number => monotonicNow(),
  /** Removes the file. */
  stop: async (): Promise<void> => {
    await bot.stop();
    folder.remove();
  },
};

export type BotProcess = typeof handlers;

answer(handlers);
