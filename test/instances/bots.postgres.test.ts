import { describe, expect, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { listening } from "../support/postgres/listening.ts";
import { emptyPlace } from "../support/postgres/open.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { dm, LogWorld } from "../support/world/log-world.ts";
import { postgres } from "../support/world/stores.ts";

const leaderOf = async (bot: Bot) => (await bot.status()).instances?.poller;

describe("two bots on one database", () => {
  test("read the log one at a time; the other one takes over as soon as the first stops", async () => {
    const platform = await runPlatform();
    const place = await emptyPlace();
    const readers: string[] = [];
    const start = async (name: string) => {
      const { bot } = await runBot(
        platform,
        (made) => made.on("dm.message", (ctx) => ctx.reply("hi")),
        {
          ...postgres(place),
          delivery: "polling",
          pollIntervalMs: 50,
          fetch: (url, init) => {
            if (url.includes("/events")) readers.push(name);
            return fetch(url, init);
          },
        },
      );
      return bot;
    };
    const [a, b] = [await start("a"), await start("b")];
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
    // This is well before the lease would have expired.
    expect(Date.now() - stopped).toBeLessThan(10_000);
    expect(new Set(readers)).toEqual(new Set(["b"]));
    expect((await b.status()).instances).toMatchObject({
      list: [{ id: instances?.self }],
      poller: { holder: instances?.self, term: 2 },
    });
    const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada" });
    await platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
  });

  test("share the budget of requests, and the one that stays has all of it", async () => {
    const bots = { delivery: "webhook", maxRequestsPerMinute: 11 } as const;
    const world = new LogWorld({ store: postgres(await emptyPlace()), bots });
    const { clock } = world;
    const shareOf = async (bot: Bot) => (await bot.status()).requests;
    const a = await world.start();
    expect(await shareOf(a)).toEqual({ perMinute: 11, left: 11, waiting: 0 });
    const b = await world.start();
    expect(await shareOf(b)).toEqual({ perMinute: 5, left: 5, waiting: 0 });
    // The first instance notices the change at its next heartbeat.
    while ((await shareOf(a))?.perMinute !== 5) await clock.advance(1_000);
    await a.stop();
    while ((await shareOf(b))?.perMinute !== 11) await clock.advance(1_000);
  });
});

describe("two bots on one database, with a webhook that reaches one of them", () => {
  async function scene() {
    const place = await emptyPlace();
    const world = new LogWorld({ store: postgres(place), bots: { random: () => 0 } });
    const a = await world.start();
    while ((await leaderOf(a))?.holder === undefined) await world.clock.advance(0);
    const b = await world.start();
    await listening(place, 2);
    const pass = async (ms: number) => {
      const step = Math.min(ms, 2_500);
      for (let passed = 0; passed < ms; passed += step) {
        await world.clock.advance(step);
        for (const bot of [a, b]) await bot.status();
      }
    };
    const deliver = async (bot: Bot, id: string) => {
      expect(await world.deliver(bot, dm(id))).toBe(200);
    };
    return { log: world.events, a, b, pass, deliver };
  }

  test("what one gets keeps the other one, which reads the log, at its audits; without it both know that it polls", {
    timeout: 120_000,
  }, async () => {
    const { log, a, b, pass, deliver } = await scene();
    expect((await leaderOf(b))?.holder).toBe((await a.status()).instances?.self);
    log.add("1");
    await deliver(b, "1");
    // The next heartbeat spreads the time to every instance.
    await pass(6_000);
    expect((await a.status()).lastDeliveryAt).toBe((await b.status()).lastDeliveryAt);
    expect((await a.status()).lastDeliveryAt).toBeDefined();
    await pass(50_000);
    // The audit finds this event before the webhook delivers it to the other instance.
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
    expect(seen.modeReason).toContain("did not arrive by webhook");
    // The other instance reads the position soon afterwards.
    while ((await b.status()).log?.cursor !== (await a.status()).log?.cursor) await pass(1_000);
    // The next leader takes over the mode and its reason.
    const stopping = a.stop();
    await pass(1_000);
    await stopping;
    while ((await leaderOf(b))?.term !== 2) await pass(1_000);
    expect(b.mode).toBe("polling");
    expect((await b.status()).modeReason).toBe(mine.modeReason);
  });
});
