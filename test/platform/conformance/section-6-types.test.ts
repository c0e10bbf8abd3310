import { expect } from "vitest";
import { get, read } from "./http.ts";
import { rule, rulesOf } from "./rule.ts";
import {
  act,
  conversationWith,
  eventOf,
  events,
  freeze,
  idsOf,
  messagesOf,
  newComment,
  newPost,
  sendMessage,
  setLimits,
  tokenOfOtherApp,
} from "./setup.ts";
import { webhook } from "./webhook.ts";
import type { Activity, DirectMessage, Event, Message, Page } from "./wire.ts";
import type { World } from "./world.ts";

/** Section 6: the event log, and each event type's payload. */

async function onlyEvent<Payload = Activity>(world: World): Promise<Event<Payload>> {
  const { events: all } = await events(world);
  expect(all).toHaveLength(1);
  return all[0] as Event<Payload>;
}

const ada = { username: "ada", name: "Ada" };

const entity = { actor: ada, entityType: expect.any(String), entityId: expect.any(String) };

/** Expects these fields. Any other field must be an optional string. */
function expectActivity(payload: Activity, optional: readonly string[]): void {
  const { actor, entityType, entityId, ...others } = payload;
  expect({ actor, entityType, entityId }).toEqual(entity);
  for (const [name, value] of Object.entries(others)) {
    expect(optional).toContain(name);
    expect(value).toEqual(expect.any(String));
  }
}

rule("6.log.all", async (world) => {
  const types = ["dm.message", "mention", "comment", "reply", "follow", "like", "repost", "quote"];
  for (const type of types) await act(world, type);
  const found = (await events(world)).events.map(({ type }) => type);
  expect([...new Set(found)]).toEqual(types);
  const other = await tokenOfOtherApp(world);
  expect((await events(world, "", other)).events).toEqual([]);
});

rule("6.log.both", async (world) => {
  const hook = await webhook(world);
  for (const type of ["dm.message", "like", "follow"]) {
    await act(world, type);
    await hook.next();
  }
  expect(hook.ids()).toEqual(idsOf((await events(world)).events));
});

rule("6.log.quota", async (world) => {
  await freeze(world);
  await setLimits(world, { requestsPerMinute: 3 });
  expect((await get(world, "/me")).status).toBe(200);
  await events(world);
  await events(world);
  expect((await get(world, "/me")).status).toBe(429);
});

async function eventOfMessage(world: World) {
  const conversation = await conversationWith(world, "ada", "hello bot");
  return { conversation, ...(await onlyEvent<DirectMessage>(world)) };
}

rulesOf(eventOfMessage, {
  "6.dm.emitted": ({ type }) => expect(type).toBe("dm.message"),
  "6.dm.conversationId": async ({ conversation, payload: { conversationId } }, world) => {
    expect(conversationId).toBe(conversation);
    const { items } = await read<Page<Message>>(world, messagesOf(conversationId));
    expect(items[0]?.text).toBe("hello bot");
  },
  "6.dm.from": ({ payload }) =>
    expect(payload.from).toEqual({ userId: expect.stringMatching(/\w/), ...ada }),
});

rule("6.dm.excerpt", async (world) => {
  await act(world, "dm.message", { text: "hello bot" });
  const { payload } = await onlyEvent<DirectMessage>(world);
  expect(payload.excerpt).toBe("hello bot");
  const long = await eventOf<DirectMessage>(act(world, "dm.message", { text: "ab".repeat(2000) }));
  expect(long.payload.excerpt).toMatch(/^(ab)+$/);
});

rule("6.dm.answer", async (world) => {
  await act(world, "dm.message", { text: "anybody there?" });
  const { payload } = await onlyEvent<DirectMessage>(world);
  const path = messagesOf(payload.conversationId);
  await sendMessage(world, payload.conversationId, { text: "yes" });
  const { items } = await read<Page<Message>>(world, path);
  expect(items.map(({ text }) => text)).toEqual(["yes", "anybody there?"]);
});

rule("6.mention.post", async (world) => {
  const { postId } = await act(world, "post", { text: "ask @bot about it" });
  await act(world, "post", { text: "ask bot, or write to me@bot.example" });
  const { type, payload } = await onlyEvent(world);
  expect({ type, postId: payload.postId }).toEqual({ type: "mention", postId });
});

rule("6.mention.comment", async (world) => {
  const { postId } = await act(world, "post", { from: "ben", text: "who knows?" });
  const { commentId } = await act(world, "comment", { postId, text: "@bot does" });
  await act(world, "comment", { postId, text: "a bot does" });
  const { type, payload } = await onlyEvent(world);
  expect(type).toBe("mention");
  expect(payload).toMatchObject({ postId, commentId });
});

rule("6.mention.payload", async (world) => {
  await act(world, "mention", { text: "ask @bot" });
  expectActivity((await onlyEvent(world)).payload, ["excerpt", "postId", "commentId"]);
});

/** Performs an action on a new post by the bot, and reads the only event that it makes. */
const onNewPost =
  (action: string, input: object = {}) =>
  async (world: World) => {
    const { id: postId } = await newPost(world);
    const { commentId } = await act(world, action, { postId, ...input });
    return { postId, commentId, ...(await onlyEvent(world)) };
  };

rulesOf(onNewPost("comment", { text: "nice" }), {
  "6.comment.emitted": ({ type, payload, postId, commentId }) => {
    expect(type).toBe("comment");
    expect(payload).toMatchObject({ postId, commentId, excerpt: "nice" });
  },
  "6.comment.payload": ({ payload }) => expectActivity(payload, ["excerpt", "postId", "commentId"]),
});

rulesOf(onNewPost("like"), {
  "6.like.post": ({ type, payload, postId }) =>
    expect({ type, id: payload.entityId }).toEqual({ type: "like", id: postId }),
  "6.like.payload": ({ payload }) => expect(payload).toMatchObject(entity),
});

rulesOf(onNewPost("repost"), {
  "6.repost.emitted": ({ type, payload, postId }) =>
    expect({ type, postId: payload.postId }).toEqual({ type: "repost", postId }),
  "6.repost.payload": ({ payload }) => expect(payload).toMatchObject(entity),
});

rulesOf(onNewPost("quote", { text: "look at this" }), {
  "6.quote.emitted": ({ type, payload, postId }) =>
    expect({ type, postId: payload.postId }).toEqual({ type: "quote", postId }),
  "6.quote.payload": ({ payload }) => expect(payload).toMatchObject(entity),
});

async function eventOfFollow(world: World) {
  await act(world, "follow");
  return await onlyEvent(world);
}

rulesOf(eventOfFollow, {
  "6.follow.emitted": ({ type }) => expect(type).toBe("follow"),
  "6.follow.payload": ({ payload }) => expectActivity(payload, []),
});

rule("6.like.comment", async (world) => {
  const { id: commentId } = await newComment(world);
  await act(world, "like", { commentId });
  const { type, payload } = await onlyEvent(world);
  expect({ type, id: payload.entityId }).toEqual({ type: "like", id: commentId });
});

rule("6.reply.emitted", async (world) => {
  const { postId } = await act(world, "post", { from: "ben", text: "who knows?" });
  const { id: commentId } = await newComment(world, { text: "I do" }, postId);
  await act(world, "reply", { commentId, text: "why?" });
  expect((await onlyEvent(world)).type).toBe("reply");
});

rule("6.types.together", async (world) => {
  const { id: postId } = await newPost(world);
  await act(world, "comment", { postId, text: "nice, @bot" });
  const { id: commentId } = await newComment(world, { text: "thanks" }, postId);
  const answer = await act(world, "reply", { commentId, text: "@bot welcome" });
  const { events: all } = await events(world);
  expect(all.map(({ type }) => type)).toEqual([
    ...["comment", "mention"],
    ...["reply", "comment", "mention"],
  ]);
  const comments = all.slice(2).map(({ payload }) => (payload as Activity).commentId);
  expect(new Set(comments)).toEqual(new Set([answer.commentId]));
});

rule("6.reply.payload", async (world) => {
  const { events: made } = await act(world, "reply", { commentId: (await newComment(world)).id });
  expect(made.find(({ type }) => type === "reply")?.payload).toMatchObject(entity);
});

rule("6.actor", async (world) => {
  for (const type of ["mention", "comment", "reply", "follow", "like", "repost", "quote"]) {
    const { events: made } = await act(world, type, { from: "ben" });
    const actors = made.map(({ payload }) => (payload as Activity).actor);
    expect(actors).toEqual(made.map(() => ({ username: "ben", name: "Ben" })));
  }
  await tokenOfOtherApp(world);
  const { payload } = await eventOf<Activity>(act(world, "like", { from: "other" }));
  expect(payload.actor).toEqual({ username: "other", name: "Other" });
});
