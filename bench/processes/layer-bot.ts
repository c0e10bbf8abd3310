import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { Bot } from "../../src/bot.ts";
import { readDatabase } from "../../src/core/database-address.ts";
import { answer } from "../harness/child.ts";
import { openCounters } from "../support/counters.ts";
import { fillInbox, openInbox } from "../support/inbox.ts";
import type { QueueEvent } from "../support/message.ts";
import type { QueueOptions } from "../support/queue.ts";
import { countStatements } from "../support/statements.ts";
import { startOnPort, webhookEnv } from "../support/webhook-bot.ts";

/**
 * How the message handler uses state and timers. With `none`, the bot defines neither. With `unused`, the bot defines
 * both and a cron job, but the handler uses none of them. With `by hand`, the handler counts in its own table instead.
 */
export type Use = "none" | "unused" | "state" | "timer" | "by hand";

export interface Run {
  readonly ms: number;
  /** CPU time of this process, in ms. A busy machine hardly affects it. */
  readonly cpuMs: number;
  /** Statements on SQLite, round trips on PostgreSQL. Includes the handler's own statements. */
  readonly statements: number;
}

/** Timer delay in ms. No timer fires during a run. */
const HOUR_MS = 3_600_000;

interface Counter {
  count: number;
}

const counter: z.ZodType<Counter> = z.object({ count: z.number().default(0) });

const statements = countStatements();

const handlers = {
  run: async (
    use: Use,
    options: QueueOptions,
    events: readonly QueueEvent[],
    concurrency: number,
  ): Promise<Run> => {
    const inbox = await openInbox(options);
    await fillInbox(inbox, events);
    await inbox.close();
    const counters = use === "by hand" ? await openCounters(options) : undefined;
    let began = { at: 0, statements: 0, cpu: process.cpuUsage() };
    let handled = 0;
    const all = Promise.withResolvers<void>();
    const begin = () => {
      if (handled === 0) {
        began = { at: performance.now(), statements: statements(), cpu: process.cpuUsage() };
      }
      handled += 1;
      if (handled === events.length) all.resolve();
    };
    const bot = makeBot(use, options, concurrency);
    bot.on("dm.message", async (ctx) => {
      begin();
      if (use === "state") (await ctx.state()).count += 1;
      if (use === "timer") await ctx.later("remind", HOUR_MS, { text: "hello" });
      await counters?.increment(ctx.payload.conversationId);
    });
    // Like most bots, this bot has a second event type. With only one type, no slots are reserved for other types.
    bot.on("mention", () => undefined);
    await startOnPort(bot);
    await all.promise;
    await bot.idle();
    const { user, system } = process.cpuUsage(began.cpu);
    const run = {
      ms: performance.now() - began.at,
      cpuMs: (user + system) / 1000,
      statements: statements() - began.statements,
    };
    await bot.stop();
    await counters?.close();
    return run;
  },
};

export type LayerBotProcess = typeof handlers;

function makeBot(use: Use, { url, schema }: QueueOptions, concurrency: number): Bot<Counter> {
  const isFile = readDatabase(url).kind === "sqlite";
  const env = {
    ...webhookEnv(url, "warn"),
    CONCURRENCY: String(concurrency),
    ...(isFile ? {} : { DATABASE_SCHEMA: schema }),
  };
  const isPlain = use === "none" || use === "by hand";
  const bot = new Bot<Counter>({ env, ...(isPlain ? {} : { state: counter }) });
  if (isPlain) return bot;
  bot.onTimer("remind", () => wait(0));
  bot.cron("daily", "0 9 * * *", {}, () => wait(0));
  return bot;
}

answer(handlers);
