import type { AddressInfo } from "node:net";
import { join } from "node:path";
import express from "express";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bot, type MiddlewareOptions } from "../src/index.ts";
import type { ActResult, Platform } from "./faces/platform.ts";
import { sign } from "./faces/signature.ts";
import { ManualClock } from "./platform/support/clock.ts";
import { logSink } from "./support/log.ts";
import { PassingTime } from "./support/passing-time.ts";
import { botOptions, runBot, runPlatform } from "./support/running-bot.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const answersMessages = (bot: Bot) =>
  void bot.on("dm.message", (ctx) => ctx.reply(`Hi ${ctx.payload.from.name}`));

async function runPollingBot(platform: Platform): Promise<Bot> {
  const { webhookSecret: _none, ...options } = botOptions(platform);
  const intervals = { pollIntervalMs: 50, auditIntervalMs: 50 };
  const bot = new Bot({ ...options, ...intervals, delivery: "polling", logLevel: "silent" });
  answersMessages(bot);
  await bot.start({ standalone: false });
  onTestFinished(() => bot.stop());
  return bot;
}

async function runOnClock() {
  const time = new PassingTime();
  const { clock, fetch } = time;
  const platform = await runPlatform({ clock });
  const { bot } = await runBot(platform, answersMessages, { clock, fetch });
  return { time, platform, bot };
}

describe("on a platform", () => {
  test("with DELIVERY=polling everything comes from the log, and there is no webhook", async () => {
    const platform = await runPlatform();
    const bot = await runPollingBot(platform);
    await platform.waitFor("api", ({ path }) => path === "/events");
    const { conversationId } = platform.control.act({ type: "dm.message", from: "ada" });
    await platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
    expect((await fetch(`${bot.url}/webhook`, { method: "POST" })).status).toBe(404);
    expect((await fetch(`${bot.url}/readyz`)).status).toBe(200);
  });

  test("by polling, an event that appears below newer events is answered", async () => {
    const clock = new ManualClock();
    const platform = await runPlatform({ clock });
    platform.control.setFaults({ events: { mode: "late", lateMs: 60_000, times: 1 } });
    const late = platform.control.act({ type: "dm.message", from: "ada" });
    await runPollingBot(platform);
    const answered = ({ conversationId }: ActResult) =>
      platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
    const { seq } = await answered(platform.control.act({ type: "dm.message", from: "ben" }));
    clock.advance(60_000);
    expect((await answered(late)).seq).toBeGreaterThan(seq);
  });

  test("with DELIVERY=webhook the log is never read", async () => {
    const platform = await runPlatform();
    const paths: string[] = [];
    platform.onTimeline((entry) => entry.kind === "api" && paths.push(entry.path));
    const { bot } = await runBot(platform, answersMessages, {
      delivery: "webhook",
      auditIntervalMs: 50,
    });
    expect(bot.mode).toBeUndefined();
    platform.control.act({ type: "dm.message", from: "ada" });
    await platform.waitFor("api", ({ created }) => created !== undefined);
    await bot.stop();
    expect(paths).not.toContain("/events");
    expect(paths.length).toBeGreaterThan(0);
  });

  test.each([
    ["an answer that was lost on its way", { mode: "lose-answer" }],
    ["a message behind a gateway's 503", { mode: "gateway" }],
    [
      "a message behind a gateway's 503 with Retry-After",
      { mode: "gateway", retryAfterSeconds: 1 },
    ],
  ] as const)("%s is found, and not repeated", async (_name, fault) => {
    const { time, platform, bot } = await runOnClock();
    platform.control.setFaults({ api: { ...fault, match: "write", times: 1 } });
    const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada" });
    // The bot reads the conversation before it sends a reply again.
    const looked = platform.waitFor(
      "api",
      ({ method, path }) => method === "GET" && path.includes("/dm/"),
    );
    await platform.waitFor("api", ({ method }) => method === "POST");
    await time.until(async () => (await bot.inbox.stats()).done === 1);
    await looked;
    expect(platform.control.messages(conversationId).filter(({ fromBot }) => fromBot)).toHaveLength(
      1,
    );
  });
});

describe("starting", () => {
  test("logs one line with the addresses once the port is bound", async () => {
    const platform = await runPlatform();
    const { bot, log } = await runBot(platform, answersMessages);
    expect(log.records[0]).toMatchObject({
      level: "info",
      url: bot.url,
      webhook: `${bot.url}/webhook`,
      delivery: "auto",
    });
  });

  test("twice is refused", async () => {
    const platform = await runPlatform();
    const { bot } = await runBot(platform, answersMessages);
    await expect(bot.start({ standalone: false })).rejects.toMatchObject({
      code: "ALREADY_STARTED",
    });
  });

  test("nothing that needs a running bot works before", async () => {
    const bot = new Bot({ env: {} });
    await expect(bot.idle()).rejects.toMatchObject({ code: "NOT_STARTED" });
    await expect(async () => bot.handle(new Request("http://x/"))).rejects.toMatchObject({
      code: "NOT_STARTED",
    });
  });
});

describe("stopping", () => {
  test("can be requested twice, and the port is free afterwards", async () => {
    const platform = await runPlatform();
    const { bot } = await runBot(platform, answersMessages);
    const { url = "" } = bot;
    await Promise.all([bot.stop(), bot.stop()]);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  test("readiness ends first, while a running handler gets its time", async () => {
    const platform = await runPlatform();
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const { bot } = await runBot(platform, (b) => {
      b.on("follow", async () => {
        entered.resolve();
        await leave.promise;
      });
    });
    platform.control.act({ type: "follow", from: "ada" });
    await entered.promise;
    expect((await fetch(`${bot.url}/readyz`)).status).toBe(200);
    const stopped = bot.stop();
    const notReady = await fetch(`${bot.url}/readyz`);
    expect(notReady.status).toBe(503);
    expect((await fetch(`${bot.url}/healthz`)).status).toBe(200);
    leave.resolve();
    await stopped;
  });

  test("deliveries are taken for DRAIN_MS more, while the bot is not ready, and then refused", async () => {
    const platform = await runPlatform();
    const clock = new ManualClock();
    const { bot } = await runBot(platform, answersMessages, { clock, drainMs: 60_000 });
    const { url = "" } = bot;
    const stopped = bot.stop();
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    const { events } = platform.control.act({ type: "dm.message", from: "ada" });
    const isIt = ({ eventIds }: { readonly eventIds: readonly string[] }) =>
      eventIds.includes(events[0]?.id ?? "");
    expect(await platform.waitFor("delivery", isIt)).toMatchObject({ status: 200 });
    await clock.advance(59_999);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await clock.advance(1);
    await stopped;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  test("a bot that is stopped during its start was never ready, and does not wait for DRAIN_MS", async () => {
    const clock = new ManualClock();
    const options = { ...botOptions(await runPlatform()), logger: logSink().log };
    const bot = new Bot({ ...options, clock, drainMs: 60_000 });
    const starting = bot.start({ standalone: false });
    const stopped = bot.stop();
    await starting;
    const { url = "" } = bot;
    await stopped;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});

describe("the inbox of a bot", () => {
  test("shows its dead letters and takes decisions, which are carried out at once", async () => {
    const platform = await runPlatform();
    const died = Promise.withResolvers<void>();
    const attempts: number[] = [];
    const handled = Promise.withResolvers<void>();
    const { bot } = await runBot(
      platform,
      (b) => {
        b.on("follow", (ctx) => {
          attempts.push(ctx.attempt);
          if (attempts.length === 1) throw new Error("boom");
          handled.resolve();
        });
        b.onError(() => died.resolve());
      },
      { maxAttempts: 1 },
    );
    platform.control.act({ type: "follow", from: "ada" });
    await died.promise;
    await bot.idle();
    const { events } = await bot.inbox.list({ state: "dead" });
    expect(events).toMatchObject([{ type: "follow", attempts: 1, error: "Error: boom" }]);
    const id = events[0]?.id ?? "";
    expect((await bot.inbox.show(id)).history).toMatchObject([{ outcome: "dead" }]);
    expect(await bot.inbox.retry({ type: "follow" })).toEqual({ changed: 1, skipped: 0 });
    await handled.promise;
    await bot.idle();
    expect(attempts).toEqual([1, 1]);
    expect(await bot.inbox.stats()).toMatchObject({ dead: 0, done: 1, deadByType: {} });
    await expect(bot.inbox.discard(id, "late")).rejects.toMatchObject({ code: "EVENT_ENDED" });
  });

  test("is not there before the start, and refuses after the end", async () => {
    const platform = await runPlatform();
    expect(() => new Bot(botOptions(platform)).inbox).toThrow(
      expect.objectContaining({ code: "NOT_STARTED" }),
    );
    const { bot } = await runBot(platform, answersMessages);
    await bot.stop();
    for (const call of [bot.inbox.list(), bot.inbox.retry({}), bot.inbox.discard("1", "x")]) {
      await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    }
  });
});

describe("inside an Express application", () => {
  async function application(bot: Bot, options: MiddlewareOptions = {}): Promise<string> {
    const app = express();
    app.use(bot.middleware(options));
    app.use(express.json());
    app.get("/", (_request, response) => void response.send("the application"));
    const server = app.listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test("a signed POST on another path is logged once, with the path that is expected", async () => {
    const platform = await runPlatform();
    const sink = logSink();
    const bot = new Bot({ ...botOptions(platform), logger: sink.log });
    const url = await application(bot);
    await bot.start({ listen: false });
    onTestFinished(() => bot.stop());
    const headers = { "x-service-signature": "t=1,v1=00" };
    for (const path of ["/hook", "/hooks/webhooks"]) {
      await fetch(url + path, { method: "POST", headers, body: "{}" });
    }
    const warnings = sink.records.filter(({ level }) => level === "warn");
    expect(warnings).toMatchObject([{ path: "/hook", expected: "/webhook" }]);
  });

  test("health checks are served on request, before, during and after the bot's life", async () => {
    const platform = await runPlatform();
    const bot = new Bot({ ...botOptions(platform), logLevel: "silent" });
    const url = await application(bot, { health: true });
    const statuses = async () => {
      const paths = ["/healthz", "/readyz", "/readyz?verbose"];
      return await Promise.all(paths.map(async (path) => (await fetch(url + path)).status));
    };
    expect(await statuses()).toEqual([200, 503, 503]);
    await bot.start({ listen: false });
    onTestFinished(() => bot.stop());
    expect(await statuses()).toEqual([200, 200, 200]);
    expect(await (await fetch(url)).text()).toBe("the application");
    await bot.stop();
    expect(await statuses()).toEqual([200, 503, 503]);
  });

  test("the portal sees the status, also without health checks and with another token", async () => {
    const platform = await runPlatform();
    const { apiKey } = platform.control.createToken(["read", "dm"]);
    const bot = new Bot({ ...botOptions(platform), apiKey, logLevel: "silent" });
    const url = await application(bot);
    platform.control.saveWebhook({ url: `${url}/webhook` });
    expect((await platform.control.botView()).status).toEqual({ ready: false });
    await bot.start({ listen: false });
    onTestFinished(() => bot.stop());
    expect((await platform.control.botView()).status).toMatchObject({ ready: true });
    expect((await fetch(`${url}/readyz`)).status).toBe(404);
  });

  test("monitoring's token gets the status before and after the start, also without health checks", async () => {
    const platform = await runPlatform();
    const statusToken = "status-0123456789";
    const bot = new Bot({ ...botOptions(platform), statusToken, logLevel: "silent" });
    const url = await application(bot);
    const headers = { authorization: `Bearer ${statusToken}` };
    const status = async () => (await fetch(`${url}/readyz?verbose`, { headers })).json();
    expect(await status()).toEqual({ ready: false });
    await bot.start({ listen: false });
    onTestFinished(() => bot.stop());
    expect(await status()).toMatchObject({ ready: true });
  });

  test("the webhook works beside the application's own routes, and 503 before the start", async () => {
    const platform = await runPlatform();
    const bot = new Bot({ ...botOptions(platform), logLevel: "silent" });
    const seen = Promise.withResolvers<string>();
    bot.on("follow", (ctx) => seen.resolve(ctx.event.id));
    const url = await application(bot);
    const body = JSON.stringify({ events: [] });
    const deliver = () =>
      fetch(`${url}/webhook`, {
        method: "POST",
        headers: {
          "x-service-signature": sign(body, platform.webhookSecret, Date.now() / 1000),
        },
        body,
      });
    expect((await deliver()).status).toBe(503);
    await bot.start({ listen: false });
    onTestFinished(() => bot.stop());
    expect((await deliver()).status).toBe(200);
    expect(await (await fetch(url)).text()).toBe("the application");
    platform.control.saveWebhook({ url: `${url}/webhook` });
    platform.control.act({ type: "follow", from: "ada" });
    expect(await seen.promise).toMatch(/^evt_/);
  });
});

test("a lane option that fails keeps the event in its usual lane", async () => {
  const platform = await runPlatform();
  const seen = Promise.withResolvers<void>();
  const { log } = await runBot(platform, (bot) => void bot.on("follow", () => seen.resolve()), {
    lane: () => {
      throw new Error("no lane");
    },
  });
  platform.control.act({ type: "follow", from: "ada" });
  await seen.promise;
  expect(log.records).toContainEqual(
    expect.objectContaining({
      level: "error",
      err: expect.objectContaining({ message: "no lane" }),
    }),
  );
});

test("the log contains neither secrets nor messages", async () => {
  const platform = await runPlatform();
  const canary = "the-canary-sings-at-midnight";
  const { bot, log } = await runBot(
    platform,
    (b) => {
      b.on("dm.message", async (ctx) => {
        ctx.log.info({ event: ctx.event, payload: ctx.payload }, "a handler that logs too much");
        await ctx.reply(`you said ${ctx.payload.excerpt}`);
        if (ctx.attempt === 1) throw new Error(`failed on ${ctx.payload.excerpt}`);
      });
    },
    { retry: { baseMs: 1, maxMs: 1 } },
  );
  platform.control.act({ type: "dm.message", from: "ada", text: canary });
  await platform.waitFor("api", ({ created }) => created !== undefined);
  await bot.stop();
  const text = log.text();
  expect(text).toContain("a handler that logs too much");
  expect(text).toContain("failed on");
  for (const secret of [canary, platform.apiKey, platform.webhookSecret]) {
    for (const encoding of ["utf8", "base64", "hex"] as const) {
      expect(text).not.toContain(Buffer.from(secret).toString(encoding));
    }
  }
});

test.each<[string, (bot: Bot, fail: (text: string) => never) => void]>([
  [
    "a command's arguments",
    (bot, fail) => void bot.command("note", ({ command }) => fail(command.args)),
  ],
  ["a match's input", (bot, fail) => void bot.hears(/^.note/, ({ match }) => fail(match.input))],
  [
    "a match's group",
    (bot, fail) => void bot.hears(/note (.*)/, ({ match }) => fail(`${match[1]}`)),
  ],
  [
    "the full text",
    (bot, fail) => void bot.on("dm.message", async (ctx) => fail(await ctx.text())),
  ],
])(
  "an error that quotes %s does not show it, in the log and in the inbox",
  async (_name, register) => {
    const platform = await runPlatform();
    const canary = `the canary ${"sings ".repeat(100)}at midnight`;
    const fail = (text: string): never => {
      throw new Error(`failed on ${text}`);
    };
    const { bot, log } = await runBot(platform, (b) => register(b, fail));
    const { events } = platform.control.act({
      type: "dm.message",
      from: "ada",
      text: `/note ${canary}`,
    });
    await expect.poll(() => log.text()).toContain("failed on");
    const { history } = await bot.inbox.show(`${events[0]?.id}`);
    for (const shown of [log.text(), history[0]?.error]) {
      expect(shown).toContain("failed on [redacted]");
      expect(shown).not.toMatch(/sings|midnight/);
    }
  },
);

test("a bot whose disk is nearly full answers deliveries with 503, and stays alive", async () => {
  const platform = await runPlatform();
  const { bot, log } = await runBot(platform, answersMessages, {
    databaseUrl: `file:${join(temporaryFolder(), "bot.db")}`,
    minFreeBytes: Number.MAX_SAFE_INTEGER,
    delivery: "webhook",
  });
  const body = JSON.stringify({ events: [] });
  const signature = sign(body, platform.webhookSecret, Date.now() / 1000);
  const response = await fetch(`${bot.url}/webhook`, {
    method: "POST",
    headers: { "x-service-signature": signature },
    body,
  });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("5");
  expect(await response.json()).toMatchObject({ error: { code: "STORE_UNAVAILABLE" } });
  expect(log.records.filter(({ level }) => level === "error")).toMatchObject([
    { status: 503, err: { code: "STORE_UNAVAILABLE" } },
  ]);
  expect((await fetch(`${bot.url}/healthz`)).status).toBe(200);
});
