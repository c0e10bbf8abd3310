import { describe, expect, onTestFinished, test } from "vitest";
import type { Bot, BotOptions, BotStatus } from "../src/index.ts";
import type { ApiEntry, Platform, TimelineEntry } from "./faces/platform.ts";
import type { logSink } from "./support/log.ts";
import { PassingTime } from "./support/passing-time.ts";
import { runBot, runPlatform } from "./support/running-bot.ts";

const START = 1_800_000_000_000;
const MINUTE = 60_000;

type Call = ApiEntry & Pick<TimelineEntry, "at">;

interface Scene {
  readonly platform: Platform;
  readonly bot: Bot;
  readonly log: ReturnType<typeof logSink>;
  readonly calls: readonly Call[];
  /** Attempt number of each run, in order. */
  readonly attempts: readonly number[];
  /** Moves the clock until the condition holds, waiting for network requests. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
}

/** Starts a bot and a platform on the same clock. The handler reads the conversation and replies. */
async function scene(options: BotOptions): Promise<Scene> {
  const time = new PassingTime(START);
  const { clock } = time;
  const platform = await runPlatform({ clock });
  const calls: Call[] = [];
  platform.onTimeline((entry) => {
    if (entry.kind === "api") calls.push(entry);
  });
  const attempts: number[] = [];
  const register = (bot: Bot) => {
    bot.on("dm.message", async (ctx) => {
      attempts.push(ctx.attempt);
      await ctx.messages({ limit: 5 });
      await ctx.reply(`to ${ctx.payload.excerpt}`);
    });
  };
  const { bot, log } = await runBot(platform, register, {
    clock,
    fetch: time.fetch,
    ...options,
  });
  // Stopping waits for the clock, so the clock must move meanwhile.
  onTestFinished(async () => {
    const stopped = bot.stop();
    for (let i = 0; i < 30; i++) await clock.advance(1_000);
    await stopped;
  });
  return {
    platform,
    bot,
    calls,
    attempts,
    log,
    until: (holds) => time.until(holds),
  };
}

function flood(platform: Platform, people: number): string[] {
  return Array.from({ length: people }, (_, i) => {
    const text = `message ${i + 1}`;
    platform.control.act({ type: "dm.message", from: `person_${i + 1}`, text });
    return text;
  });
}

function busiestMinute(calls: readonly Call[]): number {
  const times = calls.map(({ at }) => Date.parse(at));
  return Math.max(
    ...times.map((from) => times.filter((t) => t >= from && t < from + MINUTE).length),
  );
}

const lengthOf = (calls: readonly Call[]): number =>
  Date.parse(calls.at(-1)?.at ?? "") - Date.parse(calls[0]?.at ?? "");

const said = (calls: readonly Call[]) =>
  calls.filter(({ method, created }) => method === "POST" && created !== undefined);

const inboxOf = async (bot: Bot): Promise<BotStatus["inbox"]> => (await bot.status()).inbox;

describe.each(["auto", "polling"] as const)(
  "a flood with a small budget, DELIVERY=%s",
  (delivery) => {
    test("is answered once each, within the budget, and no attempt is counted for it", async () => {
      const { platform, bot, calls, attempts, log, until } = await scene({
        delivery,
        maxRequestsPerMinute: 12,
        maxAttempts: 2,
      });
      await until(() => calls.length > 0);
      const texts = flood(platform, 20);
      await until(() => said(calls).length >= texts.length);
      await until(async () => (await inboxOf(bot))?.pending === 0);
      expect(
        said(calls)
          .map(({ text }) => text)
          .sort(),
      ).toEqual(texts.map((t) => `to ${t}`).sort());
      expect(busiestMinute(calls)).toBeLessThanOrEqual(12);
      // Positive control: the budget was used up, and rejected runs were retried without counting as attempts.
      expect(busiestMinute(calls)).toBeGreaterThan(9);
      expect(attempts.length).toBeGreaterThan(texts.length);
      expect(new Set(attempts)).toEqual(new Set([1]));
      expect(await inboxOf(bot)).toMatchObject({ pending: 0, deadLetters: 0 });
      const waits = log.records.filter(({ kind }) => kind !== undefined);
      expect(waits.length).toBeGreaterThan(0);
      expect(waits.length).toBeLessThanOrEqual(1 + lengthOf(calls) / MINUTE);
      expect(calls.some(({ status }) => status === 429)).toBe(false);
    }, 60_000);
  },
);

test("polling gives way to answers, and never stops", async () => {
  const { platform, calls, until } = await scene({
    delivery: "polling",
    maxRequestsPerMinute: 20,
  });
  const polls = (from = 0) => calls.slice(from).filter(({ path }) => path === "/events").length;
  await until(() => polls() >= 10);
  const quiet = calls.length;
  flood(platform, 24);
  await until(() => said(calls).length >= 24);
  const minutes =
    (Date.parse(calls.at(-1)?.at ?? "") - Date.parse(calls[quiet]?.at ?? "")) / MINUTE;
  // An idle bot polls fifteen times a minute. A busy bot must save its budget for replies.
  expect(polls(quiet) / minutes).toBeLessThan(5);
  expect(polls(quiet) / minutes).toBeGreaterThan(0.5);
}, 60_000);
