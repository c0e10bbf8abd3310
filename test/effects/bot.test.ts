import { describe, expect, test } from "vitest";
import { number, object } from "zod";
import type { Bot, BotOptions } from "../../src/index.ts";
import { gate } from "../dispatcher/harness.ts";
import { listenTo } from "../support/channels.ts";
import { watchRuns } from "../support/statements.ts";
import { World } from "../support/world/world.ts";

const Count = object({ count: number().default(0) });
type Counted = { count: number };
const counting: BotOptions<Counted> = { state: Count };

const count = (bot: Bot<Counted>) =>
  void bot.on("dm.message", async (ctx) => {
    const state = await ctx.state();
    state.count += 1;
    await ctx.reply(String(state.count));
  });

async function deliver(world: World, bot: Pick<Bot, "handle" | "status">, ...from: string[]) {
  for (const person of from) {
    expect(await world.deliver(bot, world.write(person, "hi"))).toBe(200);
  }
  await world.settle(bot);
}

function outcomesOf(bot: object): string[] {
  const outcomes: string[] = [];
  listenTo(bot, { run: ({ outcome, error }) => outcomes.push(error?.code ?? outcome) });
  return outcomes;
}

describe("the state of a conversation", () => {
  test("goes from event to event, and over a restart", async () => {
    const world = new World();
    const bot = await world.startBot(count, counting);
    await deliver(world, bot, "ada", "ben", "ada");
    await world.stop(bot);
    await deliver(world, await world.startBot(count, counting), "ada", "ben");
    expect(world.sentTo("ada")).toEqual(["1", "2", "3"]);
    expect(world.sentTo("ben")).toEqual(["1", "2"]);
  });

  test("is what it was when a handler fails, even after it has been changed and said", async () => {
    const world = new World();
    let failures = 2;
    const bot = await world.startBot<Counted>((each) => {
      count(each);
      each.on("dm.message", async (ctx) => {
        await ctx.later("tick", "1m");
        if (failures-- > 0) throw new Error("boom");
      });
      each.onTimer("tick", (ctx) => ctx.reply("tick"));
    }, counting);
    await deliver(world, bot, "ada");
    await world.clock.advance(120_000);
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["1", "tick"]);
    await deliver(world, bot, "ada");
    expect(world.sentTo("ada")).toEqual(["1", "tick", "2"]);
  });

  test("and a timer without await belong to the run", async () => {
    const world = new World();
    const bot = await world.startBot<Counted>((each) => {
      each.on("dm.message", (ctx) => {
        void ctx.state().then((state) => {
          state.count += 1;
        });
        void ctx.later("tick", 0, undefined);
      });
      each.onTimer("tick", async (ctx) => void (await ctx.reply(`${(await ctx.state()).count}`)));
    }, counting);
    await deliver(world, bot, "ada");
    await bot.idle();
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["1"]);
  });

  test("that does not fit the schema is a dead letter after one run", async () => {
    const world = new World();
    const bot = await world.startBot<Counted>((each) => {
      each.on("dm.message", async (ctx) => void Object.assign(await ctx.state(), { count: "one" }));
    }, counting);
    const outcomes = outcomesOf(bot);
    await deliver(world, bot, "ada");
    expect(outcomes).toEqual(["STATE_INVALID"]);
    const [dead] = (await bot.inbox.list({ state: "dead" })).events;
    expect(dead?.error).toMatch(/^ServiceBotError STATE_INVALID: .*"dm:ada".*\$\.count/);
    expect(await bot.inbox.state("dm:ada")).toBeUndefined();
  });
});

test("10,000 timers in one run are set, and the lane goes on", async () => {
  const world = new World();
  const bot = await world.startBot((each) => {
    each.on("dm.message", async (ctx) => {
      if (ctx.payload.excerpt === "last") return void (await ctx.reply("done"));
      for (let n = 0; n < 10_000; n++) await ctx.later("tick", "1h", n);
    });
    each.onTimer("tick", () => undefined);
  });
  const outcomes = outcomesOf(bot);
  await world.deliver(bot, [world.write("ada", "first"), world.write("ada", "last")]);
  await world.settle(bot);
  expect(outcomes).toEqual(["done", "done"]);
  expect(world.sentTo("ada")).toEqual(["done"]);
});

describe("a state of several conversations", () => {
  /** Starts two runs that both read the state before either of them ends. */
  async function conflict(register: (bot: Bot<Counted>, enter: () => Promise<void>) => void) {
    const world = new World();
    const both = gate();
    let entered = 0;
    const enter = async () => {
      entered += 1;
      if (entered === 2) both.open();
      await both.pass();
    };
    const bot = await world.startBot<Counted>((each) => register(each, enter), counting);
    const outcomes = outcomesOf(bot);
    await deliver(world, bot, "ada", "ben");
    return { world, bot, outcomes };
  }

  test("two runs that read the same state both change it, and one of them repeats", async () => {
    const seen: unknown[] = [];
    const attempts: number[] = [];
    const { world, bot, outcomes } = await conflict((each, enter) => {
      each.onError((error) => seen.push(error));
      each.on("dm.message", async (ctx) => {
        attempts.push(ctx.attempt);
        const all = await ctx.state("all");
        const own = await ctx.state();
        await enter();
        all.count += 1;
        own.count += 1;
        await ctx.later("tick", "1m", undefined);
        await ctx.reply(`hello ${ctx.payload.conversationId}`);
      });
      each.onTimer("tick", (ctx) => ctx.reply("tick"));
    });
    expect(outcomes.toSorted()).toEqual(["STATE_CONFLICT", "done", "done"]);
    // A run repeated after a conflict is not an attempt, and is not reported.
    expect(attempts).toEqual([1, 1, 1]);
    expect(seen).toEqual([]);
    expect(await bot.inbox.state("all")).toMatchObject({ value: '{"count":2}' });
    await world.clock.advance(61_000);
    await world.settle(bot);
    for (const person of ["ada", "ben"]) {
      expect(await bot.inbox.state(`dm:${person}`)).toMatchObject({ value: '{"count":1}' });
      expect(world.sentTo(person)).toEqual([`hello ${person}`, "tick"]);
    }
    const ofRuns = world.log.records.filter(({ lane }) => lane !== undefined);
    expect(ofRuns.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  });

  test("that is only read conflicts with nothing", async () => {
    const { outcomes } = await conflict((each, enter) => {
      each.on("dm.message", async (ctx) => {
        await ctx.state("all");
        await enter();
        (await ctx.state()).count += 1;
      });
    });
    expect(outcomes).toEqual(["done", "done"]);
  });

  test("that others always change first is written in the end, and one line warns", async () => {
    const world = new World();
    const runs: number[] = [];
    const bot = await world.startBot<Counted>((each) => {
      each.on("dm.message", async (ctx) => {
        const all = await ctx.state("all");
        if (ctx.payload.conversationId !== "ada") {
          all.count += 100;
          return;
        }
        runs.push(world.clock.now());
        all.count += 1;
        if (runs.length > 15) return;
        // Let another conversation write first, every time.
        const ended = Promise.withResolvers<void>();
        const lane = `dm:other ${runs.length}`;
        listenTo(each, { run: (run) => run.lane === lane && ended.resolve() });
        await world.deliver(each, world.write(lane.slice(3), "hi"));
        await ended.promise;
      });
    }, counting);
    await deliver(world, bot, "ada");
    expect(runs).toHaveLength(16);
    expect(await bot.inbox.state("all")).toMatchObject({ value: '{"count":1501}' });
    const warnings = world.log.records.filter(({ msg }) => /keeps restarting/.test(String(msg)));
    expect(warnings).toMatchObject([{ level: "warn", lane: "dm:ada", conflicts: 10 }]);
  });
});

test("a timer is cancelled by a key of its own accord, which is longer than a given one may be", async () => {
  const world = new World();
  const bot = await world.startBot((bot: Bot<Counted>) => {
    bot.onTimer("tick", () => undefined);
    bot.on("dm.message", (ctx) => ctx.cancel("tick", `timer:${"t".repeat(100)}:1/1`));
  }, counting);
  const outcomes = outcomesOf(bot);
  await deliver(world, bot, "ada");
  expect(outcomes).toEqual(["done"]);
  await world.stop(bot);
});

describe("mistakes", () => {
  test.each<[string, (bot: Bot<Counted>) => void, RegExp]>([
    [
      "a timer without a handler",
      (bot) => bot.on("dm.message", (ctx) => ctx.later("tock", 1)),
      /HANDLER_MISSING: .*no handler for the timer "tock"/,
    ],
    [
      "a timer to cancel without a handler",
      (bot) => bot.on("dm.message", (ctx) => ctx.cancel("tock")),
      /HANDLER_MISSING: .*no handler for the timer "tock"/,
    ],
  ])("%s is a dead letter that says so", async (_name, register, message) => {
    const world = new World();
    const bot = await world.startBot<Counted>(
      (each) => {
        each.onTimer("tick", () => undefined);
        register(each);
      },
      { ...counting, maxAttempts: 1 },
    );
    await deliver(world, bot, "ada");
    const [dead] = (await bot.inbox.list({ state: "dead" })).events;
    expect(dead?.error).toMatch(message);
  });

  test("ctx.state() of a bot without the option state names it", async () => {
    const world = new World();
    const bot = await world.startBot((each) => {
      each.on("dm.message", (ctx) => Reflect.apply(ctx.state, ctx, []));
    });
    await deliver(world, bot, "ada");
    const [dead] = (await bot.inbox.list({ state: "dead" })).events;
    expect(dead?.error).toMatch(/ctx\.state\(\) needs the state option, as in new Bot\(\{ state/);
  });
});

test("a bot without state, timers and crons makes no statement for them", async () => {
  const world = new World();
  const bot = await world.startBot((each) => void each.on("dm.message", (ctx) => ctx.reply("hi")));
  const runs = watchRuns();
  await deliver(world, bot, "ada", "ben", "ada");
  await world.clock.advance(60_000);
  await bot.idle();
  const ran = runs();
  expect(ran.length).toBeGreaterThan(10);
  // The cursors of the lanes, the fences and the last delivery are not the handlers'.
  const others = ran.filter((sql) => !/'(lanes|fence|delivered)'/.test(sql));
  expect(others.filter((sql) => /(FROM|INTO|UPDATE) (state|timer|cursor)\b/.test(sql))).toEqual([]);
});

test("a bot with state makes one for each event that reads it, and none for others", async () => {
  const world = new World();
  const bot = await world.startBot<Counted>((each) => {
    each.on("dm.message", async (ctx) => {
      if (ctx.payload.conversationId === "ada") (await ctx.state()).count += 1;
    });
  }, counting);
  const runs = watchRuns();
  await deliver(world, bot, "ben", "ben");
  expect(runs().filter((sql) => /(FROM|INTO|UPDATE) state\b/.test(sql))).toEqual([]);
  await deliver(world, bot, "ada");
  const ran = runs().filter((sql) => /(FROM|INTO|UPDATE) state\b/.test(sql));
  expect(ran.length).toBeGreaterThanOrEqual(2);
  expect(ran.length).toBeLessThanOrEqual(3);
});
