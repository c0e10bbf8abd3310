import { Bot } from "../../src/bot.ts";
import { answer } from "../harness/child.ts";
import { monotonicNow } from "../support/clock.ts";
import { makeFolder } from "../support/folder.ts";
import { numberOf } from "../support/frame.ts";

export interface BotSettings {
  readonly secret: string;
  /** LOG_LEVEL; its default without. */
  readonly logLevel?: string;
}

/** A whole bot on a file, with a handler that notes when it begins and does nothing else. */
const folder = makeFolder();
let bot: Bot;
let began = new Map<number, number>();
let awaited: { readonly count: number; done(): void } | undefined;

const handlers = {
  /** Resolves to the address of its webhook. */
  start: async ({ secret, logLevel }: BotSettings): Promise<string> => {
    const env = {
      SERVICE_BASE_URL: "http://127.0.0.1:9",
      SERVICE_API_KEY: "bench-api-key-0123456789",
      SERVICE_WEBHOOK_SECRET: secret,
      DELIVERY: "webhook",
      PORT: "0",
      DATABASE_URL: `file:${folder.file("bot.db")}`,
      LOG_LEVEL: logLevel,
    };
    bot = new Bot({ env });
    bot.on("dm.message", (ctx) => {
      const at = monotonicNow();
      began.set(numberOf(ctx.event.id), at);
      if (began.size === awaited?.count) awaited.done();
    });
    await bot.start({ standalone: false });
    return `${bot.url}/webhook`;
  },
  /** Once so many events have been handled: when the handler of each began, by the event's number; then it counts anew. */
  handled: async (count: number): Promise<readonly (readonly [number, number])[]> => {
    await new Promise<void>((resolve) => {
      awaited = { count, done: resolve };
      if (began.size >= count) resolve();
    });
    await bot.idle();
    const all = [...began];
    began = new Map();
    return all;
  },
  now: (): number => monotonicNow(),
  stop: async (): Promise<void> => {
    await bot.stop();
    folder.remove();
  },
};

export type BotProcess = typeof handlers;

answer(handlers);
