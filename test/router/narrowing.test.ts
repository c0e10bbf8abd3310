import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { testBot } from "../../src/testing/index.ts";
import { Bot } from "../faces/bot.ts";
import type { StandardSchemaV1 } from "../faces/core.ts";
import {
  type ActivityPayload,
  type AnyEvent,
  type CronPayload,
  type DmMessagePayload,
  type EventOf,
  eventTypes,
  type FollowPayload,
  type TimerPayload,
  type UnknownEvent,
  type UnknownEventType,
} from "../faces/events.ts";
import { type CommandContext, type Context, Router, type WithState } from "../faces/router.ts";
import { contextFor, fakeClient, jobFor, run } from "./support.ts";

/** Each `@ts-expect-error` marks a mistake that the compiler must find. If it does not, `npm run check` fails. */

interface User {
  readonly name: string;
}
const user: User = { name: "Ada" };

const pollClosed = z.object({ votes: z.number().default(0) });

const { client } = fakeClient();

/** Calls `ctx.is` as JavaScript may. */
function isUnchecked(ctx: Context, ...given: readonly unknown[]): boolean {
  return Reflect.apply(ctx.is, undefined, given);
}

function contextOfType(type: string, payload: Readonly<Record<string, unknown>> = {}): Context {
  return contextFor(jobFor(type, payload), client);
}

/** A helper in another file, as authors write it. */
const welcome = (ctx: Context<"dm.message"> & WithState<{ count: number }>) => ctx.payload.from;
const trace = (ctx: Context) => ctx.event.id;

describe("the compiler narrows", () => {
  test("a bot's middleware: by the event's type, by destructuring, by ctx.is", () => {
    const bot = new Bot({ env: {}, state: z.object({ count: z.number().default(0) }) });
    bot.use(async (ctx, next) => {
      if (ctx.event.type === "dm.message") {
        expectTypeOf(ctx.event.payload.from.username).toBeString();
      }
      const { type, payload } = ctx.event;
      if (type === "mention") expectTypeOf(payload).toEqualTypeOf<ActivityPayload>();
      const { event } = ctx;
      if (event.type === "follow") expectTypeOf(event.payload).toEqualTypeOf<FollowPayload>();
      if (ctx.is("dm.message")) {
        expectTypeOf(ctx.event).toEqualTypeOf<EventOf<"dm.message">>();
        expectTypeOf(ctx.payload).toEqualTypeOf<DmMessagePayload>();
        expectTypeOf((await ctx.state()).count).toBeNumber();
        welcome(ctx);
      } else {
        expectTypeOf(ctx.event).toEqualTypeOf<AnyEvent>();
        expectTypeOf(ctx.payload).toEqualTypeOf<AnyEvent["payload"]>();
        expectTypeOf((await ctx.state()).count).toBeNumber();
        trace(ctx);
      }
      if (!ctx.is("follow")) return next();
      expectTypeOf(ctx.payload).toEqualTypeOf<FollowPayload>();
      return next();
    });
  });

  test("several types, lists, timers, cron jobs, and custom types with a schema", () => {
    new Router().use((ctx, next) => {
      if (ctx.is("mention", "reply")) {
        expectTypeOf(ctx.payload).toEqualTypeOf<ActivityPayload>();
        expectTypeOf(ctx.event.type).toEqualTypeOf<"mention" | "reply">();
      }
      if (ctx.is(["mention", "follow"])) {
        expectTypeOf(ctx.payload).toEqualTypeOf<ActivityPayload | FollowPayload>();
      }
      const answerable = ["mention", "comment"] as const;
      if (ctx.is(answerable)) expectTypeOf(ctx.event.type).toEqualTypeOf<"mention" | "comment">();
      if (ctx.is("timer:remind")) {
        expectTypeOf(ctx.payload).toEqualTypeOf<TimerPayload>();
        expectTypeOf(ctx.event.type).toEqualTypeOf<"timer:remind">();
      }
      if (ctx.is("cron:daily")) expectTypeOf(ctx.payload).toEqualTypeOf<CronPayload>();
      if (ctx.is("poll.closed", pollClosed)) {
        expectTypeOf(ctx.payload).toEqualTypeOf<{ votes: number }>();
        expectTypeOf(ctx.event).toEqualTypeOf<UnknownEvent>();
        trace(ctx);
      }
      return next();
    });
  });

  test("fields of middleware stay", () => {
    const router = new Router().use((_ctx, next) => next({ user }));
    router.use((ctx, next) => {
      if (ctx.is("dm.message")) expectTypeOf(ctx.user).toEqualTypeOf<User>();
      else expectTypeOf(ctx.user).toEqualTypeOf<User>();
      return next({ greeting: `hi ${ctx.user.name}` });
    });
    router.on("like", (ctx) => (ctx.is("like") ? ctx.user : ctx));
    router.catch((_error, ctx) => {
      if (ctx.is("mention")) expectTypeOf(ctx.user).toEqualTypeOf<User | undefined>();
      if (ctx.event.type === "dm.message") expectTypeOf(ctx.event.payload.from.name).toBeString();
    });
    router.onError((_error, ctx) => {
      if (ctx.is("mention")) expectTypeOf(ctx.payload.actor.name).toBeString();
      if (ctx.event.type === "dm.message") expectTypeOf(ctx.event.payload.from.name).toBeString();
    });
  });

  test("both branches in handlers of several types, so that the rest is what was not asked for", () => {
    const router = new Router();
    router.on(["mention", "reply", "follow"], (ctx) => {
      if (ctx.is("mention")) expectTypeOf(ctx.event.type).toEqualTypeOf<"mention">();
      else if (ctx.is("follow")) expectTypeOf(ctx.payload).toEqualTypeOf<FollowPayload>();
      else expectTypeOf(ctx.event.type).toEqualTypeOf<"reply">();
    });
    const who = (ctx: CommandContext) =>
      ctx.is("dm.message") ? ctx.payload.from.name : ctx.payload.actor.name;
    router.command("who", (ctx) => ctx.reply(who(ctx)));
    router.hears(/who/, (ctx) => {
      if (ctx.is("mention")) expectTypeOf(ctx.payload).toEqualTypeOf<ActivityPayload>();
      else expectTypeOf(ctx.payload).toEqualTypeOf<DmMessagePayload>();
      expectTypeOf(ctx.match).toEqualTypeOf<RegExpExecArray>();
    });
    router.catch(["mention", "follow"], (_error, ctx) => {
      if (ctx.is("mention")) expectTypeOf(ctx.payload).toEqualTypeOf<ActivityPayload>();
      else expectTypeOf(ctx.payload).toEqualTypeOf<FollowPayload>();
    });
    const both = (ctx: Context<"mention" | "reply">) => ctx.payload.actor;
    router.on(["mention", "reply"], both).on("mention", both);
  });

  test("handlers of timers, cron jobs and types that this version does not know", () => {
    const router = new Router();
    router.onTimer("remind", z.object({ text: z.string() }), (ctx) => {
      expectTypeOf(ctx.event.type).toEqualTypeOf<"timer:remind">();
      expectTypeOf(ctx.event.payload).toEqualTypeOf<TimerPayload>();
      if (ctx.is("timer:remind")) expectTypeOf(ctx.payload.data.text).toBeString();
      trace(ctx);
    });
    router.cron("daily", "0 9 * * *", (ctx) => {
      expectTypeOf(ctx.event.payload).toEqualTypeOf<CronPayload>();
      trace(ctx);
    });
    router.on("poll.closed", pollClosed, (ctx) => {
      expectTypeOf(ctx.event).toEqualTypeOf<UnknownEvent>();
      if (ctx.is("poll.closed")) expectTypeOf(ctx.payload).toEqualTypeOf<{ votes: number }>();
      trace(ctx);
    });
    router.onUnknown((ctx) => {
      expectTypeOf(ctx.event).toEqualTypeOf<UnknownEvent>();
      if (ctx.is("poll.closed", pollClosed)) expectTypeOf(ctx.payload.votes).toBeNumber();
      else expectTypeOf(ctx.payload).toEqualTypeOf<Readonly<Record<string, unknown>>>();
      if (ctx.is("poll.opened")) expectTypeOf(ctx.payload["votes"]).toBeUnknown();
      trace(ctx);
    });
  });

  test("the lane option, and what a test gets from testBot", () => {
    new Bot({
      env: {},
      lane: (event) => (event.type === "dm.message" ? event.payload.from.username : "all"),
    });
    const seen = async () => {
      const bot = await testBot((options) => new Bot(options));
      const { event } = await bot.dm("hi");
      expectTypeOf(event.payload).toEqualTypeOf<DmMessagePayload>();
      const { event: closed } = await bot.event("poll.closed", {});
      expectTypeOf(closed).toEqualTypeOf<UnknownEvent>();
      expectTypeOf(closed.type).toEqualTypeOf<UnknownEventType>();
      expectTypeOf(closed.type).toExtend<string>();
    };
    expectTypeOf(seen).toBeFunction();
  });

  test("a custom type without its schema, or a misspelt one, does not compile", () => {
    const never = (ctx: Context) => {
      // @ts-expect-error The type is misspelt.
      ctx.is("dm.mesage");
      // @ts-expect-error The second type is misspelt.
      ctx.is("mention", "dm.mesage");
      // @ts-expect-error The type in the list is misspelt.
      ctx.is(["mention", "dm.mesage"]);
      // @ts-expect-error A custom type needs its schema.
      ctx.is("poll.closed");
      // @ts-expect-error No event has this type.
      return ctx.event.type === "dm.mesage";
    };
    expectTypeOf(never).toBeFunction();
  });
});

describe("ctx.is", () => {
  test.each([...eventTypes, "timer:remind", "cron:daily"] as const)(
    "recognizes %s, alone, among others, in a list and detached",
    (type) => {
      const ctx = contextOfType(type);
      const other = type === "like" ? "follow" : "like";
      expect(ctx.is(type)).toBe(true);
      expect(ctx.is(other, type)).toBe(true);
      expect(ctx.is([other, type])).toBe(true);
      expect(ctx.is(other)).toBe(false);
      expect(ctx.is([other, "timer:other"])).toBe(false);
      const { is } = ctx;
      expect([is(type), is(other)]).toEqual([true, false]);
    },
  );

  test("gives a custom type the payload that the schema returns, beside the one that came", () => {
    const ctx = contextOfType("poll.closed", { more: 1 });
    expect(ctx.is("poll.opened", pollClosed)).toBe(false);
    expect(ctx.payload).toEqual({ more: 1 });
    expect(ctx.is("poll.closed", pollClosed)).toBe(true);
    expect(ctx.payload).toEqual({ votes: 0 });
    expect(ctx.event.payload).toEqual({ more: 1 });
  });

  test("refuses an event of the custom type that does not match the schema", () => {
    const ctx = contextOfType("poll.closed", { votes: "a secret" });
    expect(() => ctx.is("poll.closed", pollClosed)).toThrow(
      expect.objectContaining({ code: "PAYLOAD_INVALID" }),
    );
    expect(() => ctx.is("poll.closed", pollClosed)).toThrow(/\$\.votes: (?!.*secret)/);
  });

  test("needs a synchronous schema, whose promise may fail without ending the process", async () => {
    const slow: StandardSchemaV1<unknown, object> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => Promise.reject(new Error("too late")),
      },
    };
    const ctx = contextOfType("poll.closed");
    expect(() => ctx.is("poll.closed", slow)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
    expect(ctx.is("poll.opened", slow)).toBe(false);
  });

  test.each<[unknown[]]>([[[]], [[7]], [[undefined]], [[[]]], [["mention", null]], [[{}]]])(
    "refuses %j, which names no type",
    (given) => {
      const ctx = contextOfType("mention");
      expect(() => isUnchecked(ctx, ...given)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION" }),
      );
    },
  );

  test("names the type that was meant, unless the name belongs to a custom type", async () => {
    const ctx = contextOfType("mention");
    expect(() => isUnchecked(ctx, "dm.mesage")).toThrow(/dm\.message/);
    expect(() => isUnchecked(ctx, "like", "menton")).toThrow(
      expect.objectContaining({ code: "UNKNOWN_EVENT_TYPE" }),
    );
    expect(isUnchecked(ctx, "poll.closed")).toBe(false);
    expect(ctx.is("likes", pollClosed)).toBe(false);
    const found: boolean[] = [];
    const router = new Router();
    router.use((context, next) => {
      found.push(isUnchecked(context, "likes"));
      return next();
    });
    router.on("likes", pollClosed, () => undefined);
    await run(router, jobFor("mention"), client);
    await run(router, jobFor("likes"), client);
    expect(found).toEqual([false, true]);
  });
});
