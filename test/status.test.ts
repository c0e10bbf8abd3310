import { beforeEach, describe, expect, test } from "vitest";
import { Bot, RetryLater } from "../src/index.ts";
import { API_KEY } from "./support/world/in-process.ts";
import { dm, LogWorld } from "./support/world/log-world.ts";

const START = 1_800_000_000_000;
const POLL = 4_000;
const AUDIT = 60_000;

let world: LogWorld;

beforeEach(() => {
  world = new LogWorld({ bots: { random: () => 0, requestRetries: 2 } });
});

const refusal = (status: number, code: string, message: string) => () =>
  Response.json({ error: { code, message } }, { status });

const ask = (bot: Bot, query = "?verbose", token = API_KEY) =>
  bot.handle(
    new Request(`http://bot.test/readyz${query}`, {
      headers: { authorization: `Bearer ${token}` },
    }),
  );

describe("bot.status()", () => {
  test("is refused before the start", async () => {
    await expect(new Bot().status()).rejects.toMatchObject({ code: "NOT_STARTED" });
  });

  test("of a bot that has just started names the start as the reason of its mode", async () => {
    expect(await (await world.start()).status()).toMatchObject({
      at: START,
      ready: true,
      mode: "auditing",
      modeSince: START,
      modeReason: "the bot has started",
      lastDeliveryAt: undefined,
      webhook: {
        state: "unknown",
        reason: "no delivery has arrived yet",
        secretEnd: undefined,
        refused: 0,
        lastRefusal: undefined,
      },
      platform: { circuits: [], clockSkewMs: 0 },
      log: {
        cursor: "0",
        lastPollAt: START,
        lastPollError: undefined,
        readToEndAt: START,
        lagMs: 0,
      },
      inbox: {
        pending: 0,
        oldestPendingAt: undefined,
        oldestPendingAgeMs: undefined,
        deadLetters: 0,
      },
      inboxProblem: undefined,
      store: { failure: undefined, disk: undefined },
      loopGuard: { holding: 0 },
      requests: undefined,
      instances: undefined,
      restored: undefined,
      credentials: { apiKeyEnd: undefined, webhookSecretEnds: [undefined] },
    });
  });

  test("dates the last delivery that was stored, repeats included, and none that was refused", async () => {
    const bot = await world.start();
    await world.clock.advance(1_000);
    expect(await world.deliver(bot, dm("1"))).toBe(200);
    expect((await bot.status()).lastDeliveryAt).toBe(START + 1_000);
    await world.clock.advance(1_000);
    expect(await world.deliver(bot, dm("2"), { secret: "whsec_of_another" })).toBe(401);
    expect((await bot.status()).lastDeliveryAt).toBe(START + 1_000);
    expect(await world.deliver(bot, dm("1"))).toBe(200);
    expect((await bot.status()).lastDeliveryAt).toBe(START + 2_000);
  });

  test("reports each switch with its time and its reason", async () => {
    const bot = await world.start();
    await world.deliver(bot, dm("1"));
    world.events.add("1");
    world.events.add("2");
    // The audit finds the overdue event, but gives the webhook a little more time.
    await world.clock.advance(AUDIT + 2 * POLL);
    const polling = await bot.status();
    expect(polling).toMatchObject({
      mode: "polling",
      modeReason: "1 event did not arrive by webhook within 45 s",
    });
    expect(polling.modeSince).toBeGreaterThanOrEqual(START + AUDIT);
    expect(polling.modeSince).toBeLessThanOrEqual(START + AUDIT + 2 * POLL);
    await world.deliver(bot, dm("2"));
    await world.clock.advance(2 * POLL);
    const back = await bot.status();
    expect(back).toMatchObject({
      mode: "auditing",
      modeReason: "webhook deliveries have resumed",
    });
    expect(back.modeSince).toBeGreaterThan(polling.modeSince);
    expect(back.modeSince).toBeLessThanOrEqual(world.clock.now());
  });

  test("shows the stored cursor, which stays behind what is younger than a minute", async () => {
    const bot = await world.start();
    world.events.add("7");
    await world.clock.advance(AUDIT - 1);
    world.events.add("8");
    await world.clock.advance(1);
    expect((await bot.status()).log?.cursor).toBe("0");
    // While polling, the bot rereads recent events at every audit interval.
    await world.clock.advance(AUDIT + 2 * POLL);
    expect((await bot.status()).log?.cursor).toBe("8");
  });

  test("lets the lag grow while the log cannot be read, with the code of the reason", async () => {
    const bot = await world.start({ delivery: "polling" });
    await world.clock.advance(POLL);
    expect((await bot.status()).log).toMatchObject({ readToEndAt: START + POLL, lagMs: 0 });
    world.answer = refusal(403, "FORBIDDEN", "no");
    await world.clock.advance(POLL + 1_000);
    expect((await bot.status()).log).toMatchObject({
      lastPollAt: START + 2 * POLL,
      lastPollError: { code: "API_ERROR", status: 403 },
      readToEndAt: START + POLL,
      lagMs: POLL + 1_000,
    });
    world.answer = undefined;
    await world.clock.advance(300_000);
    const { lastPollError, lagMs } = (await bot.status()).log ?? {};
    expect(lastPollError).toBeUndefined();
    expect(lagMs).toBeLessThan(POLL);
  });

  test("has no log with DELIVERY=webhook, and never changes its mode", async () => {
    const bot = await world.start({ delivery: "webhook" });
    await world.clock.advance(AUDIT);
    expect(await bot.status()).toMatchObject({
      at: START + AUDIT,
      mode: "webhook",
      modeSince: START,
      modeReason: "DELIVERY=webhook",
      log: undefined,
    });
  });

  test("polls from the start with DELIVERY=polling", async () => {
    expect(await (await world.start({ delivery: "polling" })).status()).toMatchObject({
      mode: "polling",
      modeSince: START,
      modeReason: "DELIVERY=polling",
    });
  });

  test("counts what waits, with the age of the oldest, and what has died", async () => {
    const bot = await world.start({ delivery: "webhook", maxAttempts: 1 }, (b) => {
      b.on("dm.message", (ctx) => {
        if (ctx.event.id === "1") throw new Error("boom");
        throw new RetryLater(600_000, "later", { counts: false });
      });
    });
    await world.deliver(bot, dm("1"));
    await bot.idle();
    await world.clock.advance(1_000);
    await world.deliver(bot, dm("2"));
    await world.clock.advance(5_000);
    await world.deliver(bot, dm("3"));
    expect((await bot.status()).inbox).toMatchObject({
      pending: 2,
      oldestPendingAt: START + 1_000,
      oldestPendingAgeMs: 5_000,
      deadLetters: 1,
    });
  });

  test("is there also when the store does not answer", async () => {
    const bot = await world.start();
    await bot.stop();
    expect(await bot.status()).toMatchObject({
      ready: false,
      mode: "auditing",
      inbox: undefined,
      log: { cursor: "0" },
    });
  });
});

describe("the budget of requests", () => {
  test("is in the status, with what is left of it", async () => {
    const bot = await world.start({ maxRequestsPerMinute: 20 });
    // One request reads the position in the log, and one is the first poll.
    const requests = { perMinute: 20, left: 18, waiting: 0 };
    expect((await bot.status()).requests).toMatchObject(requests);
    expect(await (await ask(bot)).json()).toMatchObject({ requests });
  });
});

describe("/readyz?verbose", () => {
  test("is the status with times in ISO 8601, and null for what is not known", async () => {
    const bot = await world.start();
    await world.clock.advance(1_500);
    const answer = await ask(bot);
    expect(answer.status).toBe(200);
    const status = await bot.status();
    const written = JSON.parse(JSON.stringify(status, (_name, value) => value ?? null));
    expect(await answer.json()).toEqual({
      ...written,
      at: new Date(START + 1_500).toISOString(),
      modeSince: new Date(START).toISOString(),
      log: {
        ...written.log,
        lastPollAt: new Date(START).toISOString(),
        readToEndAt: new Date(START).toISOString(),
      },
    });
  });

  test("has every field of the status in every state", async () => {
    for (const delivery of ["auto", "webhook"] as const) {
      const bot = await world.start({ delivery });
      const written = (await (await ask(bot)).json()) as Record<string, unknown>;
      expect(Object.keys(written)).toEqual(Object.keys(await bot.status()));
    }
  });

  test("reports the status and the code of a failed read, and not the platform's message", async () => {
    const words = "ada wrote: see you at nine";
    world.answer = refusal(500, words, words);
    const text = await (await ask(await world.start())).text();
    expect(JSON.parse(text).log.lastPollError).toEqual({ code: "API_ERROR", status: 500 });
    expect(text).not.toContain("ada");
  });

  test("is 503 with the same content once the bot stops; /readyz alone stays short", async () => {
    const bot = await world.start({ delivery: "webhook" });
    expect(await (await ask(bot, "")).json()).toEqual({ status: "ready" });
    await bot.stop();
    const answer = await ask(bot);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(await answer.json()).toMatchObject({ ready: false, mode: "webhook", inbox: null });
    expect(await (await ask(bot, "")).json()).toMatchObject({ error: { code: "NOT_READY" } });
  });
});

describe("what /readyz costs", () => {
  test("a thousand askers at once make one report, which is kept for a second", async () => {
    const bot = await world.start();
    const told = async () => ((await (await ask(bot)).json()) as { at: string }).at;
    const first = await Promise.all(Array.from({ length: 1_000 }, told));
    expect(new Set(first)).toEqual(new Set([new Date(START).toISOString()]));
    await world.clock.advance(999);
    expect(await told()).toBe(first[0]);
    await world.clock.advance(1);
    expect(await told()).toBe(new Date(START + 1_000).toISOString());
  });
});
