import { describe, expect, expectTypeOf, test } from "vitest";
import type { TestBot } from "../../src/testing/index.ts";
import type { Bot } from "../faces/bot.ts";
import type { EventOf, UnknownEvent } from "../faces/events.ts";
import { startTestBot } from "../support/world/test-bot.ts";

function answerAll(bot: Bot): void {
  bot.on(["dm.message", "mention", "comment", "reply", "like", "repost", "quote"], async (ctx) => {
    await ctx.reply(`to ${ctx.event.type}`);
  });
}

describe("a direct message", () => {
  test("is answered in its user's conversation", async () => {
    const bot = await startTestBot(answerAll);
    const { event, replies } = await bot.dm("hi", { from: "ben" });
    expectTypeOf(event).toEqualTypeOf<EventOf<"dm.message">>();
    const { conversationId } = event.payload;
    expect(event.payload).toMatchObject({
      from: { username: "ben", name: "Ben" },
      excerpt: "hi",
    });
    expect(replies).toEqual(["to dm.message"]);
    expect(bot.sent).toEqual([{ kind: "dm", conversationId, text: "to dm.message" }]);
  });

  test("is from ada by default; @ and capitals follow the platform's rules", async () => {
    const bot = await startTestBot(() => undefined);
    const people = [await bot.dm("hi"), await bot.dm("hi", { from: "@Ada" })];
    const names = people.map(({ event }) => event.payload.from.username);
    expect(names).toEqual(["ada", "ada"]);
  });

  test("is in the same conversation as the ones before, and in another than those of others", async () => {
    const bot = await startTestBot(() => undefined);
    const exchanges = [await bot.dm("1"), await bot.dm("2"), await bot.dm("3", { from: "ben" })];
    const [first, second, other] = exchanges.map(({ event }) => event.payload.conversationId);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  test("is in the conversation that a delivered event has named, and the other way round", async () => {
    const bot = await startTestBot(answerAll);
    const payload = {
      conversationId: "mine",
      from: { userId: "u_1", username: "ada", name: "Ada" },
      excerpt: "hi",
    };
    await bot.deliver({ type: "dm.message", payload });
    expect((await bot.dm("hi")).event.payload.conversationId).toBe("mine");
    const { event } = await bot.dm("hi", { from: "ben" });
    const other = { ...event.payload, conversationId: "other" };
    await bot.deliver({ type: "dm.message", payload: other });
    const { items } = await bot.bot.client.dms.conversations();
    expect(items.map(({ id, peer }) => [id, peer.username])).toEqual([
      ["other", "ben"],
      [event.payload.conversationId, "ben"],
      ["mine", "ada"],
    ]);
  });

  test("of a long text is cut in the event, and whole in the conversation", async () => {
    const text = "word ".repeat(200).trim();
    const read: string[] = [];
    const bot = await startTestBot((made) =>
      made.on("dm.message", async (ctx) => {
        read.push(ctx.payload.excerpt, (await ctx.messages({ limit: 1 }))[0]?.text ?? "");
      }),
    );
    await bot.dm(text);
    const [excerpt = "", whole] = read;
    expect(text.startsWith(excerpt)).toBe(true);
    expect(excerpt.length).toBeLessThan(text.length);
    expect(whole).toBe(text);
  });

  test("may be of images alone", async () => {
    const bot = await startTestBot((made) =>
      made.on("dm.message", async (ctx) => {
        const [message] = await ctx.messages({ limit: 1 });
        await ctx.reply(`${message?.images.length} images`);
      }),
    );
    expect((await bot.dm("", { images: 2 })).replies).toEqual(["2 images"]);
  });

  test("that the platform would refuse is refused with its reason", async () => {
    const bot = await startTestBot(() => undefined);
    await expect(bot.dm("")).rejects.toMatchObject({ code: "EMPTY" });
    await expect(bot.dm("x".repeat(4_001))).rejects.toMatchObject({ code: "TOO_LONG" });
    await expect(bot.dm("x", { from: "no one" })).rejects.toThrow("from must be a username");
  });
});

describe("activity on posts", () => {
  test("a mention is in a new post, with the name of the bot", async () => {
    const bot = await startTestBot(answerAll);
    const { event, replies } = await bot.mention("are you there?", { from: "ben" });
    expect(event.payload).toMatchObject({
      actor: { username: "ben" },
      excerpt: "@bot are you there?",
      entityType: "post",
    });
    expect(replies).toEqual(["to mention"]);
    expect(bot.sent).toMatchObject([{ kind: "comment", postId: event.payload.postId }]);
  });

  test("a mention may be in a comment on a post that the test names", async () => {
    const bot = await startTestBot(answerAll);
    const { event, replies } = await bot.mention("look @bot", { postId: "p_of_mine" });
    expect(event.payload).toMatchObject({ entityType: "comment", postId: "p_of_mine" });
    expect(replies).toEqual(["to mention"]);
  });

  test("a comment is below the newest post of the bot, or below the one that is named", async () => {
    const bot = await startTestBot(answerAll);
    const { id: newest } = await bot.bot.client.posts.create({ text: "news" });
    expect((await bot.comment("nice")).event.payload.postId).toBe(newest);
    const named = await bot.comment("nice", { postId: "older" });
    expect(named.event.payload.postId).toBe("older");
    expect(named.replies).toEqual(["to comment"]);
  });

  test("a comment that mentions the bot is a mention as well, as on the platform", async () => {
    const types: string[] = [];
    const bot = await startTestBot((made) =>
      made.on(["comment", "mention"], (ctx) => types.push(ctx.event.type)),
    );
    expect((await bot.comment("nice @bot")).event.type).toBe("comment");
    expect(types.sort()).toEqual(["comment", "mention"]);
  });

  test("a reply answers what the bot has commented last, and needs no comment before", async () => {
    const types: string[] = [];
    const bot = await startTestBot((made) => {
      answerAll(made);
      // In a thread on the bot's own post, the reply would also be a comment.
      made.on(["comment", "reply"], (ctx) => types.push(ctx.event.type));
    });
    expect((await bot.reply("why?")).replies).toEqual(["to reply"]);
    expect(types).toEqual(["reply"]);
    const mention = await bot.mention("hello");
    const { event, replies } = await bot.reply("why?");
    expect(event.payload.postId).toBe(mention.event.payload.postId);
    expect(replies).toEqual(["to reply"]);
  });

  test.each(["like", "repost"] as const)("a %s is of the newest post of the bot", async (type) => {
    const bot = await startTestBot(answerAll);
    const { id } = await bot.bot.client.posts.create({ text: "news" });
    const { event, replies } = await bot[type]({ from: "ben" });
    expect(event).toMatchObject({ type, payload: { postId: id, actor: { username: "ben" } } });
    expect(replies).toEqual([`to ${type}`]);
  });

  test("a comment of the bot can be liked and answered by its id", async () => {
    const bot = await startTestBot(() => undefined);
    const { event } = await bot.mention("hello");
    const { client } = bot.bot;
    const { id: commentId = "" } = await client.posts.comment(event.payload.postId ?? "", {
      text: "yes?",
    });
    expect((await bot.like({ commentId })).event.payload).toMatchObject({ commentId });
    expect((await bot.reply("so", { commentId })).event.type).toBe("reply");
    await expect(bot.like({ commentId: "none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("a quote and a follow", async () => {
    const bot = await startTestBot(answerAll);
    expect((await bot.quote("look")).replies).toEqual(["to quote"]);
    expect((await bot.follow({ from: "cleo" })).event.payload.actor.username).toBe("cleo");
  });
});

test("an event of a new type is delivered with its payload", async () => {
  const seen: unknown[] = [];
  const bot = await startTestBot((made) => made.onUnknown((ctx) => seen.push(ctx.payload)));
  const { event } = await bot.event("poll.closed", { pollId: "7", votes: 12 });
  expectTypeOf(event).toEqualTypeOf<UnknownEvent>();
  expect(seen).toEqual([{ pollId: "7", votes: 12 }]);
  expect(event.payload).toEqual({ pollId: "7", votes: 12 });
});

test("replies are those to the event: not a post, and not a message elsewhere", async () => {
  let first: string | undefined;
  const bot = await startTestBot((made) =>
    made.on("dm.message", async (ctx) => {
      first ??= ctx.payload.conversationId;
      await ctx.post("news");
      await ctx.client.dms.send(first, { text: "to the first" });
      await ctx.reply("here");
    }),
  );
  expect((await bot.dm("hi")).replies).toEqual(["to the first", "here"]);
  expect((await bot.dm("hi", { from: "ben" })).replies).toEqual(["here"]);
  expect(bot.sent).toHaveLength(6);
});

test("ids are in the order in which events happen, however they are made", async () => {
  const late: boolean[] = [];
  const bot = await startTestBot((made) => made.on("dm.message", (ctx) => late.push(ctx.late)));
  const { event } = await bot.dm("1");
  await bot.deliver({ type: "dm.message", payload: event.payload });
  await bot.dm("2");
  expect(late).toEqual([false, false, false]);
});

test("the compiler checks each act's options", () => {
  const check = (bot: TestBot) => {
    // @ts-expect-error A message is not on a post.
    void bot.dm("hi", { postId: "p_1" });
    // @ts-expect-error A follow has no text.
    void bot.follow("hi");
    // @ts-expect-error The message has no conversation.
    void bot.deliver({ type: "dm.message", payload: { excerpt: "hi" } });
    // @ts-expect-error The message in the batch has no conversation.
    void bot.deliver([{ type: "dm.message", payload: { excerpt: "hi" } }]);
    void bot.deliver({ type: "poll.closed", payload: { pollId: "7" } });
    // The platform may add fields.
    void bot.deliver({ type: "follow", payload: { actor: { username: "ada", name: "" }, why: 1 } });
  };
  expect(check).toBeTypeOf("function");
});
