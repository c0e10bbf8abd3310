import { describe, expect, expectTypeOf, test, vi } from "vitest";
import {
  ManualClock,
  type TestBot,
  type TestBotOptions,
  type TestEvent,
  testBot,
} from "../../src/testing/index.ts";
import { payloads } from "../events/samples.ts";
import { Bot } from "../faces/bot.ts";
import { systemClock } from "../faces/core.ts";
import type { DmMessagePayload } from "../faces/events.ts";
import { startTestBot } from "../support/world/test-bot.ts";

const message: TestEvent<"dm.message"> = {
  type: "dm.message",
  payload: {
    conversationId: "c_1",
    from: { userId: "u_1", username: "ada", name: "Ada" },
    excerpt: "hello",
  },
};
const mention: TestEvent = { type: "mention", payload: payloads.mention };

describe("deliver", () => {
  test("answers as the bot does, once its handlers are done", async () => {
    const seen: string[] = [];
    const bot = await startTestBot((made) =>
      made.on("dm.message", async (ctx) => {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(ctx.payload.excerpt);
      }),
    );
    expect(await bot.deliver(message)).toEqual({
      status: 200,
      body: { stored: 1, duplicates: 0 },
    });
    expect(seen).toEqual(["hello"]);
  });

  test("takes several events, as one batch", async () => {
    const seen: string[] = [];
    const bot = await startTestBot((made) =>
      made.on(["dm.message", "mention"], (ctx) => seen.push(ctx.event.type)),
    );
    const answer = await bot.deliver([message, mention]);
    expect(answer.body).toEqual({ stored: 2, duplicates: 0 });
    expect(seen.sort()).toEqual(["dm.message", "mention"]);
  });

  test("gives events ids of their own, so that two are two", async () => {
    const ids: string[] = [];
    const bot = await startTestBot((made) =>
      made.on("dm.message", (ctx) => ids.push(ctx.event.id)),
    );
    await bot.deliver([message, message]);
    await bot.deliver(message);
    expect(new Set(ids).size).toBe(3);
    expect([...ids].sort()).toEqual(ids);
  });

  test("dates events by the clock, unless they have a date", async () => {
    const dates: string[] = [];
    const bot = await startTestBot((made) =>
      made.on("dm.message", (ctx) => dates.push(ctx.event.createdAt)),
    );
    await bot.deliver(message);
    await bot.deliver({ ...message, createdAt: "2026-01-01T00:00:00.000Z" });
    expect(dates).toEqual([new Date(bot.clock.now()).toISOString(), "2026-01-01T00:00:00.000Z"]);
  });

  test.each<[string, number, string, Parameters<TestBot["deliver"]>[1]]>([
    ["another secret", 401, "SIGNATURE_MISMATCH", { secret: "whsec_another_one" }],
    ["a stale time", 400, "SIGNATURE_STALE", { timestamp: 1_000 }],
  ])(
    "signed with %s, it is refused with %i and not handled",
    async (_name, status, code, options) => {
      const handler = vi.fn();
      const bot = await startTestBot((made) => made.on("dm.message", handler));
      expect(await bot.deliver(message, options)).toMatchObject({
        status,
        body: { error: { code } },
      });
      expect(handler).not.toHaveBeenCalled();
    },
  );

  test("the window of the signature follows the clock", async () => {
    const bot = await startTestBot(() => undefined);
    const timestamp = Math.floor(bot.clock.now() / 1000);
    await bot.clock.advance(299_000);
    expect((await bot.deliver(message, { timestamp })).status).toBe(200);
    await bot.clock.advance(3_000);
    expect((await bot.deliver(message, { timestamp })).status).toBe(400);
  });
});

describe("sent", () => {
  test("is everything that the bot has sent, in order, and nothing else", async () => {
    const bot = await startTestBot((made) => {
      made.on("dm.message", (ctx) => ctx.reply(`you said ${ctx.payload.excerpt}`));
      made.on("mention", (ctx) => ctx.reply("thanks"));
    });
    await bot.deliver(message);
    await bot.deliver(mention);
    expect(bot.sent).toEqual([
      { kind: "dm", conversationId: "c_1", text: "you said hello" },
      { kind: "comment", postId: "p_1", text: "thanks" },
    ]);
  });
});

test("an unavailable platform fails a handler at once, with any clock", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const bot = await startTestBot(
    (made) =>
      made.on("dm.message", async (ctx) => {
        await ctx.messages().catch(resolve);
      }),
    { fetch: async () => Response.json({}, { status: 503 }) },
  );
  await bot.deliver(message);
  expect(await promise).toMatchObject({ status: 503 });
});

test("handlers' requests are retried as often as the option allows", async () => {
  const calls: string[] = [];
  const bot = await startTestBot(
    (made) =>
      made.on("dm.message", async (ctx) => {
        await ctx.messages().catch(() => undefined);
      }),
    {
      requestRetries: 1,
      clock: systemClock,
      random: () => 0,
      fetch: async (url) => {
        calls.push(new URL(url).pathname);
        return Response.json({}, { status: 500 });
      },
    },
  );
  await bot.deliver(message);
  expect(calls.filter((path) => path.endsWith("/messages"))).toHaveLength(2);
});

test("two bots under test are independent", async () => {
  const answer = (made: Bot) => void made.on("dm.message", (ctx) => ctx.reply("hello"));
  const [one, other] = await Promise.all([startTestBot(answer), startTestBot(answer)]);
  await one.deliver({ ...message, id: "1" });
  expect([one.sent.length, other.sent.length]).toEqual([1, 0]);
  expect((await other.deliver({ ...message, id: "1" })).body).toEqual({ stored: 1, duplicates: 0 });
});

test("nothing of the environment is read", async () => {
  let seen: TestBotOptions | undefined;
  const bot = await testBot((options) => {
    seen = options;
    return new Bot(options);
  });
  await bot.close();
  expect(seen?.env).toEqual({});
  expect(bot.clock).toBeInstanceOf(ManualClock);
});

describe("a bot that cannot be tested", () => {
  test("reports why it cannot start", async () => {
    const start = testBot((options) => new Bot({ ...options, databaseUrl: "nowhere" }));
    await expect(start).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test.each<[string, (options: TestBotOptions) => Bot | Promise<Bot>, string]>([
    ["is not returned", () => undefined as unknown as Bot, "createBot must return the bot"],
    ["has no options", () => new Bot({ env: {} }), "new Bot(options)"],
  ])("because it %s, is refused with the remedy", async (_name, create, remedy) => {
    const start = testBot(create);
    await expect(start).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(start).rejects.toThrow(remedy);
  });

  test("because createBot has started it, is refused", async () => {
    const start = testBot(async (options) => {
      const bot = new Bot(options);
      await bot.start({ listen: false });
      return bot;
    });
    await expect(start).rejects.toMatchObject({ code: "ALREADY_STARTED" });
  });

  test("because it is closed, reports that", async () => {
    const bot = await startTestBot(() => undefined);
    await bot.close();
    const closed = { code: "NOT_STARTED", message: expect.stringContaining("closed") };
    await expect(bot.dm("hi")).rejects.toMatchObject(closed);
    await expect(bot.deliver(message)).rejects.toMatchObject(closed);
    await expect(bot.advance(1)).rejects.toMatchObject(closed);
  });
});

test("the clock starts at the given time", async () => {
  for (const now of ["2026-11-23T08:00:00Z", new Date("2026-11-23T08:00:00Z"), 1_795_420_800_000]) {
    const bot = await startTestBot(() => undefined, {}, { now });
    expect(new Date(bot.clock.now()).toISOString()).toBe("2026-11-23T08:00:00.000Z");
  }
  await expect(startTestBot(() => undefined, {}, { now: "nine" })).rejects.toThrow(
    "now must be a time",
  );
});

test("the compiler checks the payloads of known types only", () => {
  expectTypeOf<DmMessagePayload>().toExtend<TestEvent<"dm.message">["payload"]>();
  expectTypeOf<TestEvent<"whisper">["payload"]>().toEqualTypeOf<object>();
  // @ts-expect-error The message has no conversation.
  const broken: TestEvent<"dm.message"> = { type: "dm.message", payload: { excerpt: "x" } };
  expect(broken.type).toBe("dm.message");
});
