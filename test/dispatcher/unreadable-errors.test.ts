import { describe, expect, test } from "vitest";
import { type Bot, type Context, GiveUp, Router } from "../../src/index.ts";
import { listenTo } from "../support/channels.ts";
import { unreadable } from "../support/unreadable.ts";
import { World } from "../support/world/world.ts";

/** Shorter than a lease, for which a run without an outcome would wait. */
const RETRY = { baseMs: 100, maxMs: 100, factor: 1 };
const LEASE_MS = 30_000;

const names = Object.keys(unreadable);

/** Returns a new value for the event's conversation, which is named after the value. */
function valueFor({ event }: Pick<Context, "event">): unknown {
  const { conversationId } = Object(event.payload);
  return unreadable[String(conversationId)]?.();
}

const throwValue = (ctx: Context): Promise<never> => Promise.reject(valueFor(ctx));

/** Starts a bot and delivers an event for each value. Resolves to the outcomes of each, by the name of its value. */
async function outcomesWith(register: (bot: Bot) => void) {
  const world = new World();
  const bot = await world.startBot((each) => register(each), { maxAttempts: 2, retry: RETRY });
  const outcomes = new Map<string, string[]>(names.map((name) => [`dm:${name}`, []]));
  listenTo(bot, { run: ({ lane, outcome }) => outcomes.get(lane)?.push(outcome) });
  const since = world.clock.now();
  await world.deliver(
    bot,
    names.map((name) => world.write(name, "hi")),
  );
  await world.settle(bot);
  expect(world.clock.now() - since).toBeLessThan(LEASE_MS);
  return { world, bot, outcomes: Object.fromEntries(outcomes) };
}

const allOf = (...outcomes: string[]) =>
  Object.fromEntries(names.map((name) => [`dm:${name}`, outcomes]));

/** The places in which a handler's value reaches the bot. */
const places: Readonly<Record<string, (bot: Bot) => void>> = {
  "thrown by a handler": (bot) => bot.on("dm.message", throwValue),
  "thrown by middleware": (bot) =>
    void bot
      .on("dm.message", () => undefined)
      .use(async (ctx, next) => {
        await next();
        await throwValue(ctx);
      }),
  "thrown by a module": (bot) =>
    bot.use(new Router().use(throwValue).on("dm.message", () => undefined)),
  "thrown by a step": (bot) =>
    bot.on("dm.message", (ctx) => ctx.step("a", () => throwValue(ctx), { repeatable: true })),
  "thrown by a step without await": (bot) =>
    bot.on("dm.message", (ctx) => void ctx.step("a", () => throwValue(ctx), { repeatable: true })),
  "thrown by an observer": (bot) =>
    bot.on("dm.message", throwValue).onError((_, ctx) => throwValue(ctx)),
  "thrown by a boundary": (bot) =>
    bot.on("dm.message", throwValue).catch((_, ctx) => throwValue(ctx)),
  "as the cause of an error": (bot) =>
    bot.on("dm.message", (ctx) => Promise.reject(new Error("outer", { cause: valueFor(ctx) }))),
  "in place of the event's payload": (bot) =>
    bot.on("dm.message", (ctx) => {
      const value = valueFor(ctx);
      Object.assign(ctx.event, { payload: value });
      throw value;
    }),
};

describe("a value that cannot be read", () => {
  test.each(Object.entries(places))(
    "ends the event at once, as what it is: %s",
    async (_, register) => {
      const { world, bot, outcomes } = await outcomesWith(register);
      expect(outcomes).toEqual(allOf("retry", "dead"));
      const { events } = await bot.inbox.list({ state: "dead", limit: 100 });
      expect(events).toHaveLength(names.length);
      for (const { error = "" } of events) {
        expect(error).not.toMatch(/HANDLER_CRASHED|from a getter/);
        expect(error.length).toBeLessThanOrEqual(2_000);
      }
      // A long message fills no line.
      expect(world.log.text().length).toBeLessThan(names.length * 20_000);
    },
  );

  test("gives up as the cause of GiveUp", async () => {
    const { outcomes } = await outcomesWith((bot) =>
      bot.on("dm.message", (ctx) => Promise.reject(new GiveUp("enough", { cause: valueFor(ctx) }))),
    );
    expect(outcomes).toEqual(allOf("dead"));
  });

  test("ends no run in a call of its logger", async () => {
    const { outcomes } = await outcomesWith((bot) =>
      bot.on("dm.message", (ctx) => {
        const { log } = ctx;
        const info = (...given: readonly unknown[]) => Reflect.apply(log.info, log, given);
        info({ err: valueFor(ctx) }, "as err");
        info({ value: valueFor(ctx), more: 1 }, "as a field");
        info("as arguments: %s %o %d", valueFor(ctx), valueFor(ctx), valueFor(ctx));
        info(valueFor(ctx), "as the record");
        log.child({ value: valueFor(ctx) }).info("as a binding");
      }),
    );
    expect(outcomes).toEqual(allOf("done"));
  });
});
