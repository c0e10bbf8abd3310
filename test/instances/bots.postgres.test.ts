import { describe, expect, onTestFinished, test } from "vitest";
import { Bot, type BotOptions, type BotStatus } from "../../src/index.ts";
import type { ApiEntry } from "../faces/platform.ts";
import { SIGNATURE_HEADER, sign } from "../faces/signature.ts";
import { ManualClock } from "../faces/testing.ts";
import { FakeLog } from "../poller/fake-log.ts";
import { logSink } from "../support/log.ts";
import { listening } from "../support/postgres/listening.ts";
import { emptyPlace, type Place } from "../support/postgres/open.ts";
import { botOptions, runPlatform } from "../support/running-bot.ts";

const at = ({ url, schema }: Place): BotOptions => ({ databaseUrl: url, databaseSchema: schema });

async function started(bot: Bot, listen = true): Promise<Bot> {
  await bot.start({ listen, standalone: false });
  onTestFinished(() => bot.stop());
  return bot;
}

const leaderOf = async (bot: Bot) => (await bot.status()).instances?.poller;

describe("two bots on one database", () => {
  test("read the log one at a time; the other one takes over as soon as the first stops", async () => {
    const platform = await runPlatform();
    const place = await emptyPlace();
    const readers: string[] = [];
    const make = (name: string) =>
      new Bot({
        ...botOptions(platform),
        ...at(place),
        delivery: "polling",
        pollIntervalMs: 50,
        logger: logSink().log,
        fetch: (url, init) => {
          if (url.includes("/events")) readers.push(name);
          return fetch(url, init);
        },
      }).on("dm.message", (ctx) => ctx.reply("hi"));
    const [a, b] = [await started(make("a")), await started(make("b"))];
    await listening(place, 2);
    const polled = async (name: string, bot: Bot) => {
      readers.length = 0;
      while (readers.filter((reader) => reader === name).length < 5) await bot.status();
    };
    await polled("a", a);
    expect(new Set(readers)).toEqual(new Set(["a"]));
    const { instances } = await b.status();
    expect(instances).toMatchObject({ poller: { holder: instances?.list[0]?.id, term: 1 } });
    expect(instances?.list).toHaveLength(2);
    expect(instances?.self).toBe(instances?.list[1]?.id);
    const { log } = await b.status();
    expect(log?.cursor).toBeDefined();
    const stopped = Date.now();
    await a.stop();
    await polled("b", b);
    // Long before the lease would have run out.
    expect(Date.now() - stopped).toBeLessThan(10_000);
    expect(new Set(readers)).toEqual(new Set(["b"]));
    expect((await b.status()).instances).toMatchObject({
      list: [{ id: instances?.self }],
      poller: { holder: instances?.self, term: 2 },
    });
    const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada" });
    await platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
  });

  test("spend one budget of requests together", { timeout: 60_000 }, async () => {
    const platform = await runPlatform();
    const place = await emptyPlace();
    const calls: ApiEntry[] = [];
    platform.onTimeline((entry) => entry.kind === "api" && calls.push(entry));
    const senders = new Set<string>();
    const written = Promise.withResolvers<void>();
    const bothSend = Promise.withResolvers<void>();
    let reads = 0;
    // Before both send nobody goes on: one that is ahead could spend the budget alone, be it by reading the log.
    const turn = async (name: string, url: string, { method }: RequestInit): Promise<void> => {
      if (method === "POST") {
        senders.add(name);
        if (senders.size === 2) bothSend.resolve();
        await bothSend.promise;
      } else if (url.includes("/events")) {
        reads += 1;
        if (reads > 1) await (reads === 2 ? written : bothSend).promise;
      }
    };
    const make = (name: string) =>
      new Bot({
        ...botOptions(platform),
        ...at(place),
        delivery: "polling",
        pollIntervalMs: 100,
        concurrency: 2,
        shutdownGraceMs: 0,
        maxRequestsPerMinute: 10,
        logger: logSink().log,
        fetch: async (url, init) => {
          await turn(name, url, init);
          return await fetch(url, init);
        },
      }).on("dm.message", (ctx) => ctx.reply("hi"));
    const bots = [await started(make("a")), await started(make("b"))];
    onTestFinished(() => bothSend.resolve());
    await listening(place, 2);
    for (let n = 0; n < 40; n++) platform.control.act({ type: "dm.message", from: `person_${n}` });
    written.resolve();
    const spent = (status: BotStatus) => status.requests?.left === 0 && status.inbox?.pending !== 0;
    const isSpent = async () => (await Promise.all(bots.map((bot) => bot.status()))).every(spent);
    while (!(await isSpent())) await bots[0]?.status();
    expect(calls.length).toBeLessThanOrEqual(10);
    expect(senders).toEqual(new Set(["a", "b"]));
  });
});

describe("two bots on one database, with a webhook that reaches one of them", () => {
  const SECRET = "whsec_of_this_test";

  async function scene() {
    const clock = new ManualClock(1_800_000_000_000);
    const log = new FakeLog(clock);
    const place = await emptyPlace();
    const read = async (url: string): Promise<Response> => {
      const since = new URL(url).searchParams.get("since");
      const page = await log.events(since === null ? {} : { since });
      const date = new Date(clock.now()).toUTCString();
      return Response.json({ events: page.events, cursor: page.cursor }, { headers: { date } });
    };
    const make = async () =>
      await started(
        new Bot({
          env: {},
          baseUrl: "http://platform.test",
          apiKey: "for-tests-only",
          webhookSecret: SECRET,
          ...at(place),
          logger: logSink().log,
          fetch: read,
          clock,
          random: () => 0,
        }),
        false,
      );
    const a = await make();
    while ((await leaderOf(a))?.holder === undefined) await clock.advance(0);
    const b = await make();
    await listening(place, 2);
    /** A few seconds at a time, with all that is asked of the database in between. */
    const pass = async (ms: number) => {
      const step = Math.min(ms, 2_500);
      for (let passed = 0; passed < ms; passed += step) {
        await clock.advance(step);
        for (const bot of [a, b]) await bot.status();
      }
    };
    const deliver = async (bot: Bot, id: string) => {
      const from = { userId: "u", username: "ada", name: "Ada" };
      const payload = { conversationId: "c1", from, excerpt: "hi" };
      const body = JSON.stringify({ events: [{ id, type: "dm.message", payload, createdAt: "" }] });
      const headers = { [SIGNATURE_HEADER]: sign(body, SECRET, clock.now() / 1000) };
      const request = new Request("http://bot.test/webhook", { method: "POST", body, headers });
      expect((await bot.handle(request)).status).toBe(200);
    };
    return { clock, log, a, b, pass, deliver };
  }

  test("what one gets keeps the other one, which reads the log, at its audits; without it both know that it polls", {
    timeout: 120_000,
  }, async () => {
    const { log, a, b, pass, deliver } = await scene();
    expect((await leaderOf(b))?.holder).toBe((await a.status()).instances?.self);
    log.add("1");
    await deliver(b, "1");
    // With the next sign of life it is known everywhere.
    await pass(6_000);
    expect((await a.status()).lastDeliveryAt).toBe((await b.status()).lastDeliveryAt);
    expect((await a.status()).lastDeliveryAt).toBeDefined();
    await pass(50_000);
    // The audit is a moment ahead of the webhook, which comes to the other one.
    log.add("2");
    await pass(5_000);
    await deliver(b, "2");
    await pass(60_000);
    expect([a.mode, b.mode]).toEqual(["auditing", "auditing"]);
    log.add("3");
    await pass(120_000);
    expect([a.mode, b.mode]).toEqual(["polling", "polling"]);
    const [mine, seen] = [await a.status(), await b.status()];
    expect(seen.modeReason).toBe(mine.modeReason);
    expect(seen.modeReason).toContain("did not come by webhook");
    expect(seen.log?.cursor).toBe(mine.log?.cursor);
    // What it knew goes over to whoever reads next.
    const stopping = a.stop();
    await pass(1_000);
    await stopping;
    while ((await leaderOf(b))?.term !== 2) await pass(1_000);
    expect(b.mode).toBe("polling");
    expect((await b.status()).modeReason).toBe(mine.modeReason);
  });
});
