import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Bot, type BotOptions, GiveUp, Router } from "../../src/index.ts";
import type { Failpoint } from "../support/world/failpoints.ts";
import { Kill } from "../support/world/kill.ts";
import { World } from "../support/world/world.ts";

const broken = (): never => {
  throw new Error("the handler is broken");
};

async function handleOne(register: (bot: Bot) => void, options: BotOptions = {}) {
  const world = new World();
  const bot = await world.startBot(register, { maxAttempts: 3, ...options });
  const event = world.write("ada", "hello");
  await world.deliver(bot, event);
  await world.settle(bot);
  const { events } = await bot.inbox.list({ state: "dead" });
  return { world, bot, dead: events, sent: world.sentTo("ada") };
}

describe("bot.catch", () => {
  test("runs once, when no retry is left, may answer, and the event is a dead letter all the same", async () => {
    const attempts: unknown[] = [];
    const { dead, sent, world, bot } = await handleOne((bot) => {
      bot.on("dm.message", (ctx) =>
        ctx.payload.excerpt === "hello" ? broken() : ctx.reply("next"),
      );
      bot.catch(async (error, ctx) => {
        attempts.push([ctx.attempt, (error as Error).message]);
        await ctx.reply("Sorry, that did not work.");
      });
    });
    expect(attempts).toEqual([[3, "the handler is broken"]]);
    expect(sent).toEqual(["Sorry, that did not work."]);
    expect(dead).toMatchObject([{ error: "Error: the handler is broken" }]);
    // The conversation goes on.
    await world.deliver(bot, world.write("ada", "again"));
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["Sorry, that did not work.", "next"]);
  });

  test("runs after the first run where no other helps", async () => {
    const attempts: unknown[] = [];
    await handleOne((bot) => {
      bot.on("dm.message", () => {
        throw new GiveUp("not today");
      });
      bot.catch((_error, ctx) => attempts.push(ctx.attempt));
    });
    expect(attempts).toEqual([1]);
  });

  test("does not run for an event that ends well", async () => {
    const { sent, dead } = await handleOne((bot) => {
      bot.on("dm.message", (ctx) => (ctx.attempt < 3 ? broken() : ctx.reply("at last")));
      bot.catch((_error, ctx) => ctx.reply("sorry"));
    });
    expect([sent, dead]).toEqual([["at last"], []]);
  });

  test("has names of its own for replies and steps, and the fields of middleware", async () => {
    const { sent } = await handleOne((bot) => {
      const known = bot.use((_ctx, next) => next({ user: "Ada" }));
      known.on("dm.message", async (ctx) => {
        await ctx.reply(`Wait, ${ctx.user}.`);
        await ctx.step("work", () => "half");
        broken();
      });
      known.catch(async (_error, ctx) => {
        const done = await ctx.step("work", () => "apology");
        await ctx.reply(`Sorry, ${ctx.user}: ${done}.`);
      });
    });
    expect(sent).toEqual(["Wait, Ada.", "Sorry, Ada: apology."]);
  });

  test("of a type goes before the one of all types, and a module's before the bot's", async () => {
    const seen: string[] = [];
    const shop = new Router();
    shop.hears("buy", broken).catch(() => seen.push("shop"));
    const register = (bot: Bot) => {
      bot.use(shop);
      bot.on("dm.message", broken).on("mention", broken);
      bot.catch(() => seen.push("all"));
      bot.catch(["dm.message", "like"], () => seen.push("dm"));
    };
    await handleOne(register);
    const world = new World();
    const bot = await world.startBot(register, { maxAttempts: 1 });
    await world.deliver(bot, world.write("ada", "buy"));
    await world.settle(bot);
    expect(seen).toEqual(["dm", "shop"]);
  });

  test("can answer after a timeout, whose signal has fired", async () => {
    const world = new World();
    const signals: boolean[] = [];
    const bot = await world.startBot(
      (bot) => {
        bot.on(
          "dm.message",
          (ctx) =>
            new Promise((_, reject) => {
              ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
            }),
          { timeoutMs: 1_000, maxAttempts: 1 },
        );
        bot.catch(async (error, ctx) => {
          signals.push(ctx.signal.aborted);
          await ctx.reply((error as { code: string }).code);
        });
      },
      { requestTimeoutMs: 500 },
    );
    await world.deliver(bot, world.write("ada", "hello"));
    await world.settle(bot);
    expect([signals, world.sentTo("ada")]).toEqual([[false], ["HANDLER_TIMEOUT"]]);
  });

  test("that fails is logged, without the texts of people, and the error of the handlers stays", async () => {
    const { dead, world } = await handleOne((bot) => {
      bot.on("dm.message", broken);
      bot.catch((_error, ctx) => {
        throw new Error(`cannot answer ${JSON.stringify(ctx.payload)}`);
      });
    });
    expect(dead).toMatchObject([{ error: "Error: the handler is broken" }]);
    const line = world.log.records.find(({ msg }) => msg === "a catch handler failed");
    expect(line).toMatchObject({ level: "error", type: "dm.message" });
    expect(JSON.stringify(line)).toContain("cannot answer");
    expect(JSON.stringify(line)).not.toContain("hello");
  });

  test("that meets an outage is run again once it is over, and answers once", async () => {
    let refusals = 0;
    const world = new World();
    const fetch: BotOptions["fetch"] = async (url, init) => {
      if (init.method !== "POST" || ++refusals > 2) return await world.fetch(url, init);
      return Response.json({ error: { code: "AWAY", message: "away" } }, { status: 503 });
    };
    const bot = await world.startBot(
      (bot) => void bot.on("dm.message", broken).catch((_error, ctx) => ctx.reply("sorry")),
      { maxAttempts: 2, fetch },
    );
    await world.deliver(bot, world.write("ada", "hello"));
    await world.settle(bot);
    expect([refusals, world.sentTo("ada")]).toEqual([3, ["sorry"]]);
    expect((await bot.status()).inbox?.deadLetters).toBe(1);
  });

  test("may set timers and change states, and what the handlers left goes", async () => {
    const { world, bot, sent } = await handleOne((bot) => {
      bot.on("dm.message", async (ctx) => {
        await ctx.later("remind", "1s", "of the handler");
        const state = await ctx.state("counts", z.object({ failures: z.number().default(0) }));
        state.failures = 100;
        broken();
      });
      bot.catch(async (_error, ctx) => {
        await ctx.later("remind", "1s", "of the boundary");
        const state = await ctx.state("counts", z.object({ failures: z.number().default(0) }));
        state.failures += 1;
      });
      bot.onTimer("remind", (ctx) => ctx.reply(String(ctx.payload.data)));
    });
    expect(sent).toEqual([]);
    await world.clock.advance(2_000);
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["of the boundary"]);
    expect(await bot.inbox.state("counts")).toMatchObject({ value: '{"failures":1}' });
  });

  test("is registered once for a type, and for types that are there", () => {
    const router = new Router().catch(() => undefined).catch("mention", () => undefined);
    router.onTimer("remind", () => undefined).catch("timer:remind", () => undefined);
    expect(() => router.catch(() => undefined)).toThrow("already registered");
    expect(() => router.catch("mention", () => undefined)).toThrow("already registered");
    expect(() => router.catch("mentoin", () => undefined)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_EVENT_TYPE" }),
    );
    expect(() => router.catch("like", undefined as never)).toThrow("needs a function");
  });
});

const apologise = (bot: Bot) => {
  bot.on("dm.message", async (ctx) => {
    await ctx.reply("I begin.");
    broken();
  });
  bot.catch((_error, ctx) => ctx.reply("Sorry."));
};

/**
 * The first time a point is passed, the handler is replying. The second time, the error boundary is. The run ends once,
 * and records the boundary's reply.
 */
const points: readonly { readonly at: Failpoint; readonly hit: number }[] = [
  { at: "before intent", hit: 2 },
  { at: "after intent", hit: 2 },
  { at: "before send", hit: 2 },
  { at: "after answer", hit: 2 },
  { at: "before complete", hit: 1 },
  { at: "after complete", hit: 1 },
];

describe("a bot that is killed in bot.catch", () => {
  test.each(points)(
    "$at says it once all the same, and the event is a dead letter",
    async ({ at, hit }) => {
      const world = new World();
      const kill = new Kill(world, at, hit);
      const bot = await kill.startBot(apologise, { maxAttempts: 1 });
      await world.deliver(bot, world.write("ada", "hello"));
      await kill.happens();
      const next = await world.startBot(apologise, { maxAttempts: 1 });
      await world.settle(next);
      expect(world.sentTo("ada")).toEqual(["I begin.", "Sorry."]);
      expect((await next.status()).inbox?.deadLetters).toBe(1);
    },
  );

  test("again because of its own effects is not run forever", async () => {
    const world = new World();
    const seen: string[] = [];
    // Kill each bot at the step that its handler or error boundary has reached.
    for (let lives = 0; lives < 5; lives++) {
      let copy: string | undefined;
      const die = (where: string) => () => {
        // After this point, a killed bot has no effects.
        if (copy === undefined) {
          seen.push(where);
          copy = world.copyInbox();
        }
        return new Promise(() => undefined);
      };
      const bot = await world.startBot(
        (bot) => void bot.on("dm.message", die("handler")).catch(die("boundary")),
        { maxAttempts: 2, shutdownGraceMs: 0 },
      );
      if (lives === 0) await world.deliver(bot, world.write("ada", "hello"));
      for (let n = 0; copy === undefined && n < 200; n++) {
        await turn();
        if (n % 10 === 9) await world.clock.advance(10_000);
      }
      if (copy === undefined) {
        expect((await bot.inbox.list({ state: "dead" })).events).toMatchObject([
          { error: expect.stringContaining("HANDLER_CRASHED") },
        ]);
        break;
      }
      world.file = copy;
    }
    expect(seen).toEqual(["handler", "handler", "boundary"]);
  });
});
