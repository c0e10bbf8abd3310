import { describe, expect, test } from "vitest";
import { GiveUp } from "../../src/index.ts";
import { startTestBot } from "../support/world/test-bot.ts";

const boom = new Error("boom");

function failing(...attempts: number[]) {
  return startTestBot((bot) =>
    bot.on("dm.message", async (ctx) => {
      if (attempts.includes(ctx.attempt)) throw boom;
      await ctx.reply("done");
    }),
  );
}

describe("a handler that fails", () => {
  test("fails the test with its own error", async () => {
    const bot = await failing(1);
    await expect(bot.dm("hi")).rejects.toBe(boom);
  });

  test("leaves a record of each run", async () => {
    const bot = await failing(1, 2);
    expect(bot.failures).toEqual([]);
    await bot.dm("hi").catch(() => undefined);
    await bot.advance("1h");
    const run = { event: "evt_test_000001", type: "dm.message", error: boom, outcome: "retry" };
    expect(bot.failures).toEqual([
      { ...run, attempt: 1 },
      { ...run, attempt: 2 },
    ]);
    expect(bot.sent).toMatchObject([{ text: "done" }]);
  });

  test("for good is a dead letter", async () => {
    const giveUp = new GiveUp("no use");
    const bot = await startTestBot((made) =>
      made.on("dm.message", () => {
        throw giveUp;
      }),
    );
    await expect(bot.dm("hi")).rejects.toBe(giveUp);
    expect(bot.failures).toMatchObject([{ outcome: "dead", error: giveUp }]);
  });

  test("of a delivery fails no test, because deliveries are answered before", async () => {
    const bot = await failing(1);
    const { event } = await bot.dm("hi").catch(() => ({ event: undefined }));
    expect(event).toBeUndefined();
    const from = { userId: "u_1", username: "ada", name: "Ada" };
    const payload = { conversationId: "c_9", from, excerpt: "hi" };
    expect((await bot.deliver({ type: "dm.message", payload })).status).toBe(200);
    expect(bot.failures).toHaveLength(2);
  });

  test("fails its act, even if others begin meanwhile", async () => {
    const bot = await startTestBot((made) =>
      made.on("dm.message", (ctx) => {
        if (ctx.payload.from.username === "ada") throw boom;
      }),
    );
    const acts = [bot.dm("hi", { from: "ada" }), bot.dm("hi", { from: "ben" })];
    expect((await Promise.allSettled(acts))[0]).toMatchObject({ reason: boom });
  });

  test("fails the next act no more, unless it fails again", async () => {
    const bot = await startTestBot((made) => {
      made.on("dm.message", () => {
        throw boom;
      });
      made.on("follow", () => undefined);
    });
    await expect(bot.dm("hi")).rejects.toBe(boom);
    await bot.follow();
    expect(bot.failures).toHaveLength(1);
  });
});

describe("advance", () => {
  test("resolves if a retry succeeds in time", async () => {
    const bot = await failing(1, 2, 3);
    await bot.dm("hi").catch(() => undefined);
    await bot.advance("24h");
    expect(bot.sent).toHaveLength(1);
  });

  test("rejects with the error of an event that is not handled by the end", async () => {
    const bot = await failing(1, 2, 3, 4, 5, 6, 7, 8);
    await expect(bot.dm("hi")).rejects.toBe(boom);
    await expect(bot.advance("24h")).rejects.toBe(boom);
    expect(bot.failures.at(-1)).toMatchObject({ attempt: 8, outcome: "dead" });
  });

  test("of several events, rejects with all of their errors", async () => {
    const bot = await failing(1, 2, 3, 4, 5, 6, 7, 8);
    await bot.dm("hi").catch(() => undefined);
    await bot.dm("hi", { from: "ben" }).catch(() => undefined);
    await expect(bot.advance("24h")).rejects.toMatchObject({ errors: [boom, boom] });
  });

  test("handles what is due before the clock moves on", async () => {
    const at: number[] = [];
    const bot = await startTestBot(
      (made) =>
        made.on("dm.message", async (ctx) => {
          // Takes more event loop turns than the clock waits for.
          for (let turn = 0; turn < 50; turn++) await new Promise((done) => setImmediate(done));
          at.push(bot.clock.now() - start);
          if (ctx.attempt < 4) throw boom;
        }),
      { random: () => 0.5 },
    );
    const start = bot.clock.now();
    await bot.dm("hi").catch(() => undefined);
    await bot.advance("1m");
    expect(at).toEqual([0, 500, 1_500, 3_500]);
    expect(bot.clock.now() - start).toBe(60_000);
  });

  test("takes a span or a moment", async () => {
    const bot = await startTestBot(() => undefined, {}, { now: "2026-11-23T08:00:00Z" });
    await bot.advance(new Date("2026-11-24T09:00:00Z"));
    expect(new Date(bot.clock.now()).toISOString()).toBe("2026-11-24T09:00:00.000Z");
    await bot.advance(new Date(0));
    await bot.advance("1h30m");
    expect(new Date(bot.clock.now()).toISOString()).toBe("2026-11-24T10:30:00.000Z");
    for (const by of [-1, "soon", new Date("never")]) {
      await expect(bot.advance(by)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    }
  });

  test("ends the wait of a handler for the clock, such as its timeout", async () => {
    const bot = await startTestBot(
      (made) => made.on("dm.message", (ctx) => new Promise((_, fail) => aborts(ctx.signal, fail))),
      { handlerTimeoutMs: 86_400_000, maxAttempts: 1 },
    );
    const answered = bot.dm("hi");
    await Promise.all([
      expect(answered).rejects.toMatchObject({ code: "HANDLER_TIMEOUT" }),
      // Moving the clock renews the lease 72 times, but must wait only once for a handler that hangs.
      expect(bot.advance("25h")).rejects.toMatchObject({ code: "HANDLER_TIMEOUT" }),
    ]);
  });
});

function aborts(signal: AbortSignal, fail: (reason: unknown) => void): void {
  signal.addEventListener("abort", () => fail(signal.reason));
}
