import { openSync, readFileSync, writeSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { answer } from "../../bench/harness/child.ts";
import { Bot, type Context } from "../../src/index.ts";
import { createLogger } from "../faces/core.ts";
import { asked } from "./texts.ts";

/** What the driver says about the bot. */
export interface SoakBotSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly databaseUrl: string;
  readonly retention: { bodiesMs: number; idsMs: number; deadLettersMs: number };
  /** Where its warnings go. */
  readonly logFile: string;
}

/** How the process is doing. Sizes in bytes, times in milliseconds. */
export interface BotSample {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** What keeps the loop busy or could: sockets, timers, requests. */
  readonly handles: number;
  /** Of the event loop's delay since the last sample. */
  readonly loopP99: number;
  readonly pending: number;
  readonly deadLetters: number;
  /** Handlers that have come to their end without an error. */
  readonly handled: number;
  readonly mode: string;
}

/** Fewer than by default, so that what can never succeed is given up within seconds. */
const MAX_ATTEMPTS = 5;

const PICTURE = readFileSync(new URL("../../src/platform/acts/sample.png", import.meta.url));

let bot: Bot;
let handled = 0;
/** How often a stubborn handler has failed, by event: it gives in after a person's retry. */
const failed = new Map<string, number>();
const delay = monitorEventLoopDelay();

function register(): void {
  bot.use(async (_ctx, next) => {
    await next();
    handled += 1;
  });
  bot.on("dm.message", async (ctx) => {
    const what = asked(ctx.payload.excerpt);
    const done = failed.get(ctx.event.id) ?? 0;
    if (what === "hopeless") throw new Error("this event can never be handled");
    if (what === "once" && ctx.attempt === 1) throw new Error("this handler fails once");
    if (what === "stubborn" && done < MAX_ATTEMPTS) {
      failed.set(ctx.event.id, done + 1);
      throw new Error("this handler fails until a person retries it");
    }
    failed.delete(ctx.event.id);
    if (what === "step") await ctx.step("count", () => ({ words: ctx.payload.excerpt.length }));
    const images = what === "picture" ? { images: [PICTURE] } : {};
    await ctx.reply({ text: `${ctx.event.id} answered`, ...images });
  });
  // Each event is to be answered, and `reply` answers only one of those that a comment makes.
  const comment = async (ctx: Context<"mention" | "comment" | "reply" | "like">) => {
    const { postId, entityId = "" } = ctx.payload;
    await ctx.comment(postId ?? entityId, `${ctx.event.id} answered`);
  };
  bot.on(["mention", "comment", "reply", "like"], comment);
  bot.on("follow", async (ctx) => {
    await ctx.post(`${ctx.event.id} answered`);
  });
}

const handlers = {
  /** Resolves to its origin and the number of its process. */
  start: async ({
    logFile,
    ...settings
  }: SoakBotSettings): Promise<{ url: string; pid: number }> => {
    const log = openSync(logFile, "a");
    bot = new Bot({
      env: {},
      ...settings,
      port: 0,
      maxAttempts: MAX_ATTEMPTS,
      loopGuard: false,
      retry: { baseMs: 200, maxMs: 5_000 },
      pollIntervalMs: 1_000,
      auditIntervalMs: 15_000,
      silenceMs: 20_000,
      logger: createLogger({
        level: "warn",
        secrets: [settings.apiKey, settings.webhookSecret],
        destination: { write: (line: string) => void writeSync(log, line) },
      }),
    });
    register();
    await bot.start({ standalone: false });
    delay.enable();
    return { url: bot.url ?? "", pid: process.pid };
  },
  sample: async (): Promise<BotSample> => {
    const { inbox, mode } = await bot.status();
    const { rss, heapUsed, external } = process.memoryUsage();
    const loopP99 = delay.percentile(99) / 1e6;
    delay.reset();
    return {
      rss,
      heapUsed,
      external,
      handles: process.getActiveResourcesInfo().length,
      loopP99,
      pending: inbox?.pending ?? Number.NaN,
      deadLetters: inbox?.deadLetters ?? Number.NaN,
      handled,
      mode,
    };
  },
  stop: (): Promise<void> => bot.stop(),
};

export type SoakBot = typeof handlers;

answer(handlers);
