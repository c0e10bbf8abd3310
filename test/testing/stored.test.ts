import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type TestBot, type TestOptions, testBot } from "../../src/testing/index.ts";
import { Bot } from "../faces/bot.ts";

const schema = z.object({ count: z.number().default(0) });

async function counting(test: TestOptions = {}) {
  return await testBot((options) => {
    const bot = new Bot({ ...options, state: schema });
    bot.command("later", async (ctx) => {
      await ctx.later("remind", ctx.command.args, { at: ctx.command.args });
    });
    bot.onTimer("remind", z.object({ at: z.string() }), (ctx) => ctx.reply(ctx.payload.data.at));
    bot.on("dm.message", async (ctx) => {
      const state = await ctx.state();
      state.count += 1;
      if (ctx.payload.excerpt === "fail") throw new Error("boom");
    });
    bot.on("mention", async (ctx) => {
      const all = await ctx.state("mentions");
      all.count += 1;
    });
    return bot;
  }, test);
}

describe("state", () => {
  test("is that of a user's conversation, or that of a key", async () => {
    const bot = await counting();
    await bot.dm("1");
    await bot.dm("2");
    await bot.dm("1", { from: "ben" });
    await bot.mention("hi");
    expect(await bot.state()).toEqual({ count: 2 });
    expect(await bot.state({ from: "@Ada" })).toEqual({ count: 2 });
    expect(await bot.state({ from: "ben" })).toEqual({ count: 1 });
    expect(await bot.state("mentions")).toEqual({ count: 1 });
    await bot.close();
  });

  test("is undefined before the first, and as it was after a run that failed", async () => {
    const bot = await counting();
    await expect(bot.dm("fail")).rejects.toThrow("boom");
    expect(await bot.state()).toBeUndefined();
    expect(await bot.state("mentions")).toBeUndefined();
    await bot.close();
  });

  test("of a user who has sent nothing is rejected", async () => {
    const bot = await counting();
    await expect(bot.state({ from: "cleo" })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await bot.close();
  });

  test("of a bot with custom lanes is found as well", async () => {
    const bot = await testBot((options) => {
      const made = new Bot({ ...options, state: schema, lane: () => "everybody" });
      return made.on("dm.message", async (ctx) => {
        const state = await ctx.state();
        state.count += 1;
      });
    });
    await bot.dm("1");
    await bot.dm("2", { from: "ben" });
    expect(await bot.state({ from: "ben" })).toEqual({ count: 2 });
    await bot.close();
  });
});

describe("timers", () => {
  test("are what handlers have set, the next one first, with the time until then", async () => {
    const bot = await counting({ now: "2026-11-23T08:00:00Z" });
    expect(await bot.timers()).toEqual([]);
    await bot.dm("/later 2h");
    await bot.dm("/later 10m", { from: "ben" });
    const timer = { name: "remind", key: expect.any(String) };
    expect(await bot.timers()).toEqual([
      { ...timer, data: { at: "10m" }, dueAt: "2026-11-23T08:10:00.000Z", inMs: 600_000 },
      { ...timer, data: { at: "2h" }, dueAt: "2026-11-23T10:00:00.000Z", inMs: 7_200_000 },
    ]);
    await bot.advance("1h");
    expect(await bot.timers()).toMatchObject([{ data: { at: "2h" }, inMs: 3_600_000 }]);
    await bot.close();
  });

  test("fire at their time, in order, however far the clock is advanced at once", async () => {
    const bot = await counting();
    for (const span of ["3d", "1s", "2h", "0s"]) await bot.dm(`/later ${span}`);
    await bot.advance("30d");
    expect(bot.sent.map(({ text }) => text)).toEqual(["0s", "1s", "2h", "3d"]);
    expect(await bot.timers()).toEqual([]);
    await bot.close();
  });

  test("that set timers fire each at its own time", async () => {
    const at: number[] = [];
    const bot = await testBot((options) => {
      const made = new Bot(options);
      made.on("dm.message", (ctx) => ctx.later("again", "1h"));
      made.onTimer("again", (ctx) => {
        at.push(bot.clock.now() - start);
        return ctx.later("again", "1h");
      });
      return made;
    });
    const start = bot.clock.now();
    await bot.dm("go");
    await bot.advance("5h");
    expect(at).toEqual([1, 2, 3, 4, 5].map((hour) => hour * 3_600_000));
    await bot.close();
  });

  test("whose handler fails fail the advance, unless a retry succeeds in time", async () => {
    const bot = await testBot((options) => {
      const made = new Bot(options);
      made.on("dm.message", (ctx) => ctx.later(ctx.payload.excerpt, "10m"));
      made.onTimer("once", (ctx) => {
        if (ctx.attempt === 1) throw new Error("once");
      });
      made.onTimer("always", () => {
        throw new Error("always");
      });
      return made;
    });
    await bot.dm("once");
    await bot.advance("1h");
    expect(bot.failures).toHaveLength(1);
    await bot.dm("always");
    await expect(bot.advance("24h")).rejects.toThrow("always");
    await bot.close();
  });
});

describe("cron", () => {
  test.each(["last", "none"] as const)(
    "every moment that the clock passes is one event, with missed: %s",
    async (missed) => {
      const at: string[] = [];
      const timeZone = "Europe/Paris";
      const bot: TestBot<Bot> = await testBot(
        (options) =>
          new Bot(options).cron("daily", "0 9 * * *", { timeZone, missed }, (ctx) => {
            at.push(`${ctx.payload.dueAt} ${new Date(bot.clock.now()).toISOString()}`);
          }),
        { now: "2026-03-27T12:00:00Z" },
      );
      await bot.advance("4d");
      // In Paris, daylight saving time starts on the 29th.
      const days = [
        "2026-03-28T08:00:00.000Z",
        "2026-03-29T07:00:00.000Z",
        "2026-03-30T07:00:00.000Z",
        "2026-03-31T07:00:00.000Z",
      ];
      expect(at).toEqual(days.map((day) => `${day} ${day}`));
      await bot.close();
    },
  );

  test("moments and timers come in the order of their times", async () => {
    const order: string[] = [];
    const bot = await testBot(
      (options) => {
        const made = new Bot(options);
        made.on("dm.message", (ctx) => ctx.later("at", "90m"));
        made.onTimer("at", () => order.push("timer"));
        made.cron("hourly", "0 * * * *", () => order.push("hour"));
        return made;
      },
      { now: "2026-11-23T08:00:00Z" },
    );
    await bot.dm("go");
    await bot.advance("2h");
    expect(order).toEqual(["hour", "timer", "hour"]);
    await bot.close();
  });
});
