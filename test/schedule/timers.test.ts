import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { number, object } from "zod";
import type { Bot } from "../../src/index.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { DueTimers } from "../faces/schedule.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import { World } from "../support/world/world.ts";

const HOUR_MS = 3_600_000;

const echoLater = (bot: Bot) => {
  bot.on("dm.message", async (ctx) => {
    await ctx.later("echo", ctx.payload.excerpt, ctx.payload.excerpt);
    await ctx.reply(`set ${ctx.payload.excerpt}`);
  });
  bot.onTimer("echo", (ctx) => ctx.reply(`due ${ctx.payload.data}`));
};

async function say(world: World, bot: Bot, person: string, text: string): Promise<void> {
  expect(await world.deliver(bot, world.write(person, text))).toBe(200);
  await world.settle(bot);
}

async function pass(world: World, bot: Bot, ms: number): Promise<void> {
  await world.clock.advance(ms);
  await bot.idle();
  await world.settle(bot);
}

describe("a timer", () => {
  test("an hour away holds nothing up, and speaks in its conversation when it is due", async () => {
    const world = new World();
    const bot = await world.startBot(echoLater);
    await say(world, bot, "ada", "1h");
    await say(world, bot, "ada", "2h");
    await say(world, bot, "ben", "30m");
    expect(world.sentTo("ada")).toEqual(["set 1h", "set 2h"]);
    await pass(world, bot, HOUR_MS - 10_000);
    expect(world.sentTo("ada")).toEqual(["set 1h", "set 2h"]);
    expect(world.sentTo("ben")).toEqual(["set 30m", "due 30m"]);
    await pass(world, bot, 2 * HOUR_MS);
    expect(world.sentTo("ada")).toEqual(["set 1h", "set 2h", "due 1h", "due 2h"]);
  });

  test("that is due sooner than the ones before is not late", async () => {
    const world = new World();
    const bot = await world.startBot(echoLater);
    await say(world, bot, "ada", "1h");
    await say(world, bot, "ada", "100ms");
    // Do not call `bot.idle()` here, because it checks for due timers itself.
    await world.clock.advance(1_000);
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["set 1h", "set 100ms", "due 100ms"]);
  });

  test("survives the bot, and is due at its start if its time has passed", async () => {
    const world = new World();
    const bot = await world.startBot(echoLater);
    await say(world, bot, "ada", "1h");
    await world.stop(bot);
    await world.clock.advance(2 * HOUR_MS);
    const next = await world.startBot(echoLater);
    await pass(world, next, 0);
    expect(world.sentTo("ada")).toEqual(["set 1h", "due 1h"]);
    await pass(world, next, HOUR_MS);
    expect(world.sentTo("ada")).toHaveLength(2);
  });

  test("knows who set it, and has the state of its conversation", async () => {
    const world = new World();
    const seen: unknown[] = [];
    const bot = await world.startBot<{ count: number }>(
      (each) => {
        each.on("dm.message", async (ctx) => {
          (await ctx.state()).count += 1;
          expect(await ctx.later("tick", 0, { a: 1 })).toBe(`${ctx.event.id}/1`);
        });
        each.onTimer("tick", async (ctx) => {
          const { payload, late, source, attempt } = ctx;
          seen.push({ payload, late, source, attempt, ...(await ctx.state()) });
        });
      },
      { state: object({ count: number().default(0) }) },
    );
    await say(world, bot as Bot, "ada", "hi");
    await pass(world, bot as Bot, 0);
    expect(seen).toMatchObject([
      {
        payload: {
          data: { a: 1 },
          conversationId: "ada",
          from: { username: "ada" },
          setBy: { id: "evt_0001", type: "dm.message" },
          origin: "evt_0001",
        },
        late: false,
        source: "poll",
        attempt: 1,
        count: 1,
      },
    ]);
    const [event] = (await bot.inbox.list({ state: "done", type: "timer:tick" })).events;
    expect(event).toMatchObject({ type: "timer:tick", lane: "dm:ada" });
  });

  test("without a handler in this version waits for one that has it", async () => {
    const world = new World();
    const bot = await world.startBot(echoLater);
    await say(world, bot, "ada", "1m");
    await world.stop(bot);
    const older = await world.startBot((each) => void each.onTimer("other", () => undefined));
    await world.clock.advance(62_000);
    for (let n = 0; n < 20; n++) await turn();
    expect(world.log.records).toContainEqual(
      expect.objectContaining({
        msg: "attempt failed",
        err: expect.objectContaining({ code: "HANDLER_MISSING" }),
      }),
    );
    await world.stop(older);
    await pass(world, await world.startBot(echoLater), 60_000);
    expect(world.sentTo("ada")).toEqual(["set 1m", "due 1m"]);
  });
});

test("chains of timers that answer a person are held back at the person, and timers never are", async () => {
  const world = new World();
  const bot = await world.startBot(
    (each) => {
      each.on("dm.message", (ctx) => ctx.later("tick", 10, 3));
      each.onTimer("tick", async (ctx) => {
        const left = Number(ctx.payload.data);
        await ctx.reply(`tick ${left}`);
        if (left > 1) await ctx.later("tick", 10, left - 1);
      });
    },
    { loopGuard: { answers: 2, perMs: 600_000 } },
  );
  for (const text of ["one", "two"]) {
    await say(world, bot, "ada", text);
    for (let n = 0; n < 5; n++) await pass(world, bot, 10);
  }
  // Each of the two messages has three replies.
  expect(world.sentTo("ada")).toHaveLength(6);
  expect(await world.deliver(bot, world.write("ada", "three"))).toBe(200);
  await bot.idle();
  expect((await bot.status()).inbox?.pending).toBe(1);
  expect(world.log.text()).toContain("loop guard: too many");
});

describe("an event of the platform", () => {
  test.each(["timer:echo", "cron:daily"])("of the type %s reaches no handler", async (type) => {
    const world = new World();
    const handler = vi.fn();
    const bot = await world.startBot((each) => {
      each.onTimer("echo", handler);
      each.cron("daily", "0 9 * * *", handler);
      each.onUnknown(handler);
    });
    const event = { ...world.write("ada", "hi"), type };
    expect(await world.deliver(bot, event)).toBe(200);
    await bot.idle();
    expect(handler).not.toHaveBeenCalled();
    const [dead] = (await bot.inbox.list({ state: "dead" })).events;
    expect(dead?.error).toMatch(/type: starts with a prefix reserved/);
  });

  test("with the id of a moment that is still to come does not take its place", async () => {
    const world = new World();
    const handler = vi.fn();
    const bot = await world.startBot((each) => void each.cron("hourly", "0 * * * *", handler));
    const due = new Date((Math.floor(world.clock.now() / HOUR_MS) + 1) * HOUR_MS);
    const id = `cron:hourly:${due.toISOString().replace(".000Z", "Z")}`;
    expect(await world.deliver(bot, { ...world.write("ada", "hi"), id })).toBe(200);
    await pass(world, bot, due.getTime() - world.clock.now());
    expect(handler).toHaveBeenCalledOnce();
    const [ctx] = handler.mock.calls[0] ?? [];
    expect(ctx.event).toMatchObject({ id, payload: { name: "hourly", dueAt: due.toISOString() } });
  });
});

test("a cron posts once a moment, also after a failure and a restart", async () => {
  const world = new World();
  let failures = 1;
  const post = (bot: Bot) =>
    void bot.cron("daily", "0 9 * * *", { timeZone: "Europe/Paris" }, async (ctx) => {
      await ctx.post(`Good morning of ${ctx.payload.dueAt.slice(0, 10)}.`);
      if (failures-- > 0) throw new Error("boom");
    });
  const bot = await world.startBot(post);
  await pass(world, bot, 36 * HOUR_MS);
  await world.stop(bot);
  await world.clock.advance(3 * 24 * HOUR_MS);
  const next = await world.startBot(post);
  await pass(world, next, 0);
  const posts = world.platform.sent.filter(({ kind }) => kind === "post");
  const days = posts.map(({ text }) => text);
  // The clock starts on 15 January 2027 at 09:00 in Paris. The bot was down at 09:00 on the 17th, 18th and 19th.
  expect(days).toEqual(["Good morning of 2027-01-16.", "Good morning of 2027-01-19."]);
});

test("two looks at one store make one event of each timer", async () => {
  const clock = new ManualClock(1_800_000_000_000);
  const inbox = new SqliteInbox({ file: ":memory:", clock });
  onTestFinished(() => inbox.close());
  const { log } = logSink();
  const loops = [1, 2].map(() => new DueTimers({ inbox, clock, log }));
  await Promise.all(loops.map((loop) => loop.start()));
  const event = { id: "1", type: "x", lane: "a", ord: "1", body: "{}" };
  await inbox.put([event], "webhook");
  const [claim] = await inbox.claim(1, 30_000);
  if (claim === undefined) throw new Error("nothing to claim");
  const timers = Array.from({ length: 500 }, (_, n) => ({
    lane: "a",
    name: "tick",
    key: `${n}`,
    eventId: `timer:tick:${n}`,
    body: "{}",
    delayMs: 1_000 + n,
  }));
  await inbox.complete(claim, { states: [], timers, cancels: [] });
  await clock.advance(999);
  expect(await inbox.stats()).toMatchObject({ pending: 0 });
  await clock.advance(2_000);
  await Promise.all(loops.map((loop) => loop.settled()));
  expect(await inbox.stats()).toMatchObject({ pending: 500 });
  expect((await inbox.admin.timers()).timers).toEqual([]);
  await Promise.all(loops.map((loop) => loop.stop()));
});
