import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bot, type BotOptions } from "../faces/bot.ts";
import { TestPlatform } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function setUp() {
  const platform = new TestPlatform();
  onTestFinished(() => platform.close());
  const sink = logSink();
  const createBot = (name: string | undefined, options: BotOptions = {}) => {
    const bot = new Bot({
      ...{
        env: {},
        baseUrl: "http://platform.test",
        apiKey: "key",
        webhookSecret: "whsec_of_these_tests",
      },
      databaseUrl: "file::memory:",
      port: 0,
      delivery: "webhook",
      logger: sink.log,
      ...(name === undefined ? {} : { name }),
      fetch: platform.fetch,
      ...options,
    });
    onTestFinished(() => bot.stop());
    return bot;
  };
  return { platform, sink, createBot };
}

const inProcess = { standalone: false } as const;

describe("Bot.run", () => {
  test("starts several bots, each with its name in the log", async () => {
    const { sink, createBot } = setUp();
    const bots = [createBot("shop"), createBot("news")];
    await Bot.run(bots, inProcess);
    expect(new Set(bots.map(({ url }) => url)).size).toBe(2);
    const ready = sink.records.filter(({ msg }) => msg === "ready");
    expect(ready.map(({ bot }) => bot)).toEqual(["shop", "news"]);
  });

  test("stops the others when one cannot start", async () => {
    const { sink, createBot } = setUp();
    const first = createBot("shop");
    const occupied = createBot("other");
    await occupied.start(inProcess);
    const port = Number(new URL(occupied.url ?? "").port);
    const starting = Bot.run([first, createBot("news", { port })], inProcess);
    await expect(starting).rejects.toMatchObject({ code: "ADDRESS_IN_USE" });
    expect(sink.records).toContainEqual(expect.objectContaining({ msg: "stopped", bot: "shop" }));
  });

  test("refuses what two bots cannot share, all at once, before any starts", async () => {
    const { sink, createBot } = setUp();
    const databaseUrl = `file:${join(temporaryFolder(), "bot.db")}`;
    const same = { databaseUrl, port: 4567, metricsPort: 4568 };
    const starting = Bot.run([createBot("shop", same), createBot("news", same)], inProcess);
    await expect(starting).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      problems: [
        'PORT: bots "shop" and "news" share 127.0.0.1:4567; give each its own',
        'METRICS_PORT: bots "shop" and "news" share 4568; give each its own',
        expect.stringMatching(/^DATABASE_URL: bots "shop" and "news" share \/.*bot\.db;/),
      ],
    });
    expect(sink.records).toEqual([]);
  });

  test("compares schemas of one database, and no ports of bots that do not listen", async () => {
    const { createBot } = setUp();
    const postgres = { databaseUrl: "postgres://user:secret@127.0.0.1:1/bots", port: 4567 };
    const run = (databaseSchema: string) =>
      Bot.run([createBot("a", postgres), createBot("b", { ...postgres, databaseSchema })], {
        ...inProcess,
        listen: false,
      });
    await expect(run("service_bot")).rejects.toMatchObject({
      problems: [expect.stringMatching(/^DATABASE_URL: .*postgres:.*\(service_bot\)/)],
    });
    await expect(run("service_bot")).rejects.not.toThrow("secret");
    // PostgreSQL's port is closed, so these bots fail to start, but not because of their configuration.
    await expect(run("other")).rejects.not.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("needs a unique name for each of several bots", async () => {
    const { createBot } = setUp();
    const problem = (message: RegExp) => ({ problems: [expect.stringMatching(message)] });
    const nameless = Bot.run([createBot("a"), createBot(undefined)], inProcess);
    await expect(nameless).rejects.toMatchObject(problem(/^name is missing; every bot/));
    const twins = Bot.run([createBot("a"), createBot("a")], inProcess);
    await expect(twins).rejects.toMatchObject(problem(/^name: bots "a" and "a"/));
    await Bot.run([createBot(undefined)], inProcess);
    expect(() => createBot("")).toThrow("name must be a string of 1 to 100 characters");
  });
});

describe("bot.client", () => {
  test("works before the start, and is the one of the handlers", async () => {
    const { platform, createBot } = setUp();
    const bot = createBot(undefined);
    expect(await bot.client.me()).toMatchObject({ username: expect.any(String) });
    expect(platform.calls).toHaveLength(1);
    const { client } = bot;
    await bot.start(inProcess);
    expect(bot.client).toBe(client);
  });

  test("shares the request budget with the bot", async () => {
    const { createBot } = setUp();
    const bot = createBot(undefined, { maxRequestsPerMinute: 60 });
    await bot.start(inProcess);
    await bot.client.me();
    expect((await bot.status()).requests).toMatchObject({ perMinute: 60 });
  });

  test("of a wrong configuration says so", () => {
    expect(() => new Bot({ env: {} }).client).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });
});
