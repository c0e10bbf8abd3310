import { expect, test } from "vitest";
import type { Bot } from "../src/index.ts";
import type { Platform } from "./faces/platform.ts";
import { PassingTime } from "./support/passing-time.ts";
import { runBot, runPlatform } from "./support/running-bot.ts";

const MINUTE = 60_000;

/** The bearer token that the bot sends. Changing it stands in for a restart with a new variable. */
interface Token {
  apiKey: string;
}

interface Refusal {
  /** Value of the log field that names the cause. */
  readonly refused: "token" | "app";
  readonly refuse: (platform: Platform) => void;
  readonly mend: (platform: Platform, token: Token) => void;
}

const revoked: Refusal = {
  refused: "token",
  refuse: ({ control }) => {
    for (const { id } of control.apps.tokens()) control.apps.revokeToken(id);
  },
  mend: ({ control }, token) => {
    token.apiKey = control.createToken(["read", "dm", "posts:write", "comments:write"]).apiKey;
  },
};

const killed: Refusal = {
  refused: "app",
  refuse: ({ control }) => void control.apps.set("bot", { disabled: true }),
  mend: ({ control }) => void control.apps.set("bot", { disabled: false }),
};

/** Starts a bot with a manual clock, which moves only when no request is in flight. */
async function scene(delivery: "auto" | "webhook") {
  const platform = await runPlatform();
  const time = new PassingTime();
  const token: Token = { apiKey: platform.apiKey };
  const statuses: number[] = [];
  const attempts: number[] = [];
  const begun = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<void>();
  const register = (bot: Bot) => {
    bot.on("dm.message", async (ctx) => {
      attempts.push(ctx.attempt);
      begun.resolve();
      await refused.promise;
      await ctx.reply("hello");
    });
  };
  const send = async (url: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${token.apiKey}`);
    const response = await fetch(url, { ...init, headers });
    if (url.includes("/api/v1/")) statuses.push(response.status);
    return response;
  };
  const { bot, log } = await runBot(platform, register, {
    clock: time.clock,
    delivery,
    random: () => 0.999,
    requestTimeoutMs: 10_000,
    fetch: (url, init) => time.track(send(url, init)),
  });
  const pass = (ms: number, isOver?: () => boolean) => time.pass(ms, isOver, 5_000);
  return { platform, bot, log, token, statuses, attempts, begun, refused, pass };
}

test.each([
  ["a revoked token", "auto", revoked],
  ["a revoked token", "webhook", revoked],
  ["the kill switch", "auto", killed],
  ["the kill switch", "webhook", killed],
] as const)("%s burns no attempts: what waited is answered once (%s)", async (...given) => {
  const [, delivery, { refuse, mend, refused: what }] = given;
  const { platform, bot, log, token, statuses, attempts, begun, refused, pass } =
    await scene(delivery);
  const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada" });
  await begun.promise;
  refuse(platform);
  statuses.length = 0;
  refused.resolve();
  await pass(20 * MINUTE);

  expect(await bot.inbox.stats()).toMatchObject({ pending: 1, dead: 0 });
  // The bot tries often at first, and in the end once a minute. A trial that gets a 403 also needs a probe.
  expect(statuses.length).toBeGreaterThanOrEqual(15);
  expect(statuses.length).toBeLessThan(80);
  const loud = log.records.filter(({ level }) => level === "error");
  expect(loud).toMatchObject([
    { operation: "token", refused: what, retryInMs: expect.any(Number) },
  ]);

  mend(platform, token);
  const said = () => platform.control.messages(conversationId).filter(({ fromBot }) => fromBot);
  await pass(3 * MINUTE, () => said().length > 0);
  await bot.idle();
  expect(said()).toHaveLength(1);
  expect(new Set(attempts)).toEqual(new Set([1]));
  await expect(bot.inbox.stats()).resolves.toMatchObject({ pending: 0, dead: 0 });
});
