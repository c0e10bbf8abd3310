import { expect, onTestFinished, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { serviceBotEnds } from "../cli/cli.ts";
import { sign } from "../faces/signature.ts";
import { emptyPlace } from "../support/postgres/open.ts";
import { PostgresServer } from "../support/postgres/server.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { BotProcess } from "../support/world/bot-process.ts";
import { postgres } from "../support/world/stores.ts";

const answersMessages = (bot: Bot) =>
  void bot.on("dm.message", (ctx) => ctx.reply(`Hi ${ctx.payload.from.name}`));

test("a bot on PostgreSQL responds with 503 while the database restarts, and replies to every message once", {
  timeout: 60_000,
}, async () => {
  const server = await PostgresServer.start("18");
  onTestFinished(() => server.stop());
  const platform = await runPlatform();
  const { bot, log } = await runBot(platform, answersMessages, {
    ...{ databaseUrl: server.url(), auditIntervalMs: 100, pollIntervalMs: 50, silenceMs: 1_000 },
  });
  const asked: string[] = [];
  const ask = (from: string) => {
    const { conversationId = "" } = platform.control.act({ type: "dm.message", from });
    asked.push(conversationId);
    return conversationId;
  };
  const answers = (conversation: string) =>
    platform.control.messages(conversation).filter(({ fromBot }) => fromBot);
  const answered = (conversation: string) =>
    platform.waitFor("api", ({ created }) => created?.conversationId === conversation);
  // Once the bot has read the log, it keeps reading events that the webhook cannot deliver.
  await platform.waitFor("api", ({ path }) => path === "/events");
  await answered(ask("ada"));

  await server.end();
  const body = Buffer.from(JSON.stringify({ events: [] }));
  const signature = sign(body, platform.webhookSecret, Date.now() / 1_000);
  const refused = await fetch(`${bot.url}/webhook`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-service-signature": signature },
    body,
  });
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(await refused.json()).toMatchObject({ error: { code: "STORE_UNAVAILABLE" } });
  expect((await fetch(`${bot.url}/readyz`)).status).toBe(503);
  expect((await bot.status()).inbox).toBeUndefined();
  const meanwhile = ask("ben");

  await server.begin();
  await answered(meanwhile);
  await answered(ask("cleo"));
  await bot.idle();
  for (const conversation of asked) expect(answers(conversation)).toHaveLength(1);
  expect((await bot.status()).inbox).toMatchObject({ pending: 0, deadLetters: 0 });
  expect(log.text()).toContain(`postgres://127.0.0.1:${server.port}/postgres`);
  expect(log.text()).not.toContain("hunter2");
});

test("a stopping bot on PostgreSQL keeps its process alive until it has stopped", async () => {
  const store = postgres(await emptyPlace());
  const platform = await runPlatform();
  const index = new URL("../../src/index.ts", import.meta.url);
  const code = `
    import { Bot } from "${index}";
    const bot = new Bot({ delivery: "webhook" });
    await bot.start({ listen: false });
    await bot.stop();`;
  // The connections left open differ from run to run, so start several bots.
  const options = { flags: ["--input-type=module", "--eval"], script: code, store };
  const bots = Array.from({ length: 8 }, () => new BotProcess(platform, options));
  for (const bot of bots) expect(await bot.exited, bot.output()).toMatchObject({ code: 0 });
});

test("service-bot inbox reads PostgreSQL, and a running bot carries out its decisions", {
  timeout: 60_000,
}, async () => {
  const { url, schema } = await emptyPlace();
  const platform = await runPlatform();
  let broken = true;
  const fails = (bot: Bot) =>
    void bot.on("dm.message", async (ctx) => {
      if (broken) throw new Error("broken");
      await ctx.reply("mended");
    });
  const options = { databaseUrl: url, databaseSchema: schema, maxAttempts: 1 };
  const { bot } = await runBot(platform, fails, options);
  const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada" });
  while ((await bot.inbox.stats()).dead === 0) await bot.idle();
  const run = async (...args: string[]) => {
    const env = { DATABASE_URL: url, DATABASE_SCHEMA: schema };
    const { code, out, err } = await serviceBotEnds(["inbox", ...args], { env });
    expect(code, err).toBe(0);
    return out;
  };
  expect(JSON.parse(await run("stats", "--json"))).toMatchObject({ dead: 1, running: true });
  broken = false;
  expect(await run("retry", "--all")).toContain("1 dead letter");
  await platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
  await bot.stop();
  expect(JSON.parse(await run("stats", "--json"))).toMatchObject({ done: 1, running: false });
});

test("service-bot inbox reports why there is no inbox at a URL", async () => {
  const { url, schema } = await emptyPlace();
  const run = (env: Record<string, string>) => serviceBotEnds(["inbox"], { env });
  expect(await run({ DATABASE_URL: url, DATABASE_SCHEMA: schema })).toMatchObject({
    code: 1,
    err: expect.stringContaining(schema),
  });
  const wrong = await run({ DATABASE_URL: "postgres://me:hunter2@db.example" });
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("DATABASE_URL") });
  expect(wrong.err).not.toContain("hunter2");
});
