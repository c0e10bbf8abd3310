import sharp from "sharp";
import { expect, test } from "vitest";
import { eventTypes, parseEvent } from "../faces/events.ts";
import type { ActInput, ActResult, Scope } from "../faces/platform.ts";
import { newKeys } from "./conformance/setup.ts";
import type { Image } from "./conformance/wire.ts";
import { act, request, runPlatform, tokenWith, worldOf } from "./support/platform.ts";

const ada = { username: "ada", name: "Ada" };

test.each(eventTypes)("%s makes one event that the bot's own parser accepts", async (type) => {
  const platform = await runPlatform();
  const { events } = act(platform, type);
  // The thread belongs to a post by the bot, so the reply is also a comment on that post.
  expect(events.map((event) => event.type)).toEqual(
    type === "reply" ? ["reply", "comment"] : [type],
  );
  expect(parseEvent(events[0])).toMatchObject({ ok: true, event: { type } });
  expect(platform.control.events()).toEqual(events);
});

test("a user has one conversation with the bot", async () => {
  const platform = await runPlatform();
  const first = act(platform, "dm.message").conversationId ?? "";
  expect(act(platform, "dm.message").conversationId).toBe(first);
  expect(act(platform, "dm.message", { conversationId: first }).conversationId).toBe(first);
  expect(act(platform, "dm.message", { from: "ben" }).conversationId).not.toBe(first);
  expect(() => act(platform, "dm.message", { from: "ben", conversationId: first })).toThrow(
    expect.objectContaining({ status: 404, code: "NOT_FOUND" }),
  );
});

test("a mention goes to a new post or the named one, and names the bot once", async () => {
  const platform = await runPlatform();
  const payload = (more: Partial<ActInput>) => act(platform, "mention", more).events[0]?.payload;
  expect(payload({ text: "what?" })).toMatchObject({ postId: "p_2", excerpt: "@bot what?" });
  const text = "hey @Bot, look";
  const comment = { postId: "p_1", commentId: "cm_1", excerpt: text };
  expect(payload({ postId: "p_1", text })).toMatchObject(comment);
});

test("a comment goes to the bot's newest post unless another post is named", async () => {
  const platform = await runPlatform();
  await request(platform, "POST", "/api/v1/posts", { body: { text: "second" } });
  expect(act(platform, "comment")).toMatchObject({ postId: "p_2" });
  expect(act(platform, "comment", { postId: "p_1", text: "old" })).toMatchObject({ postId: "p_1" });
  expect(platform.control.comments("p_1")).toMatchObject([{ text: "old", replyToId: null }]);
});

test("a reply answers the bot's newest comment, and creates a comment if there is none", async () => {
  const platform = await runPlatform();
  const first = act(platform, "reply", { text: "why?" });
  expect(platform.control.comments("p_1")).toMatchObject([
    { id: "cm_1", author: { isBot: true } },
    { id: first.commentId, text: "why?", replyToId: "cm_1" },
  ]);
  await request(platform, "POST", "/api/v1/posts/p_1/comments", { body: { text: "because" } });
  act(platform, "reply", { text: "oh" });
  expect(platform.control.comments("p_1").at(-1)).toMatchObject({ text: "oh", replyToId: "cm_3" });
  expect(first.events[0]?.payload).toMatchObject({ postId: "p_1", commentId: first.commentId });
});

test("a user is created on first use, with a case-insensitive name", async () => {
  const platform = await runPlatform();
  act(platform, "follow", { from: "@Carol" });
  act(platform, "follow", { from: "carol" });
  expect(platform.control.state().people).toEqual([
    ada,
    { username: "ben", name: "Ben" },
    { username: "carol", name: "Carol" },
  ]);
});

test("an action can be repeated up to 1000 times", async () => {
  const platform = await runPlatform();
  expect(act(platform, "dm.message", { count: 1000 }).events).toHaveLength(1000);
  expect(platform.control.events()).toHaveLength(1000);
});

test.each<[string, object, string]>([
  ["follow", { count: 0 }, "VALIDATION"],
  ["follow", { count: 1001 }, "VALIDATION"],
  ["follow", { count: 1.5 }, "VALIDATION"],
  ["follow", { text: "hi" }, "VALIDATION"],
  ["dm.message", { postId: "p_1" }, "VALIDATION"],
  ["comment", { conversationId: "c_1" }, "VALIDATION"],
  ["like", { postId: "p_1", commentId: "cm_1" }, "VALIDATION"],
  ["post", { to: "bot" }, "VALIDATION"],
  ["follow", { payload: {} }, "VALIDATION"],
  ["poke", { text: "hi" }, "VALIDATION"],
  ["Poke", {}, "VALIDATION"],
  ["", {}, "VALIDATION"],
  [`p${"o".repeat(64)}ke`, {}, "VALIDATION"],
  ["poke", { to: "nobody" }, "NOT_FOUND"],
  ["poke", { to: "ben" }, "VALIDATION"],
  ["poke", { from: "bot" }, "VALIDATION"],
  ["follow", { from: "bot" }, "VALIDATION"],
  ["follow", { from: "" }, "VALIDATION"],
  ["follow", { from: "a b" }, "VALIDATION"],
  ["dm.message", { text: " " }, "EMPTY"],
  ["dm.message", { text: "x".repeat(4001) }, "TOO_LONG"],
  ["follow", { images: 1 }, "VALIDATION"],
  ["comment", { images: 5 }, "VALIDATION"],
  ["comment", { images: 0.5 }, "VALIDATION"],
  ["comment", { postId: "p_9" }, "NOT_FOUND"],
  ["mention", { postId: "p_9" }, "NOT_FOUND"],
  ["reply", { commentId: "cm_9" }, "NOT_FOUND"],
  ["dm.message", { conversationId: "c_9" }, "NOT_FOUND"],
])("%s with %j is rejected and leaves nothing behind", async (type, more, code) => {
  const platform = await runPlatform();
  expect(() => act(platform, type, { from: "newcomer", ...more })).toThrow(
    expect.objectContaining({ code }),
  );
  expect(platform.control.events()).toEqual([]);
  expect(platform.control.state().people.map(({ username }) => username)).toEqual(["ada", "ben"]);
});

test("actions on other users' content make no event", async () => {
  const platform = await runPlatform();
  const { postId = "", events } = act(platform, "post", { text: "sun is out" });
  expect(events).toEqual([]);
  const { commentId = "", ...comment } = act(platform, "comment", { postId, from: "ben" });
  expect(comment).toEqual({ events: [], postId });
  expect(act(platform, "repost", { postId }).events).toEqual([]);
  expect(act(platform, "quote", { postId }).events).toEqual([]);
  expect(act(platform, "like", { postId }).events).toEqual([]);
  expect(act(platform, "like", { commentId })).toEqual({ events: [], postId, commentId });
  expect(act(platform, "reply", { commentId, text: "yes" }).events).toEqual([]);
  expect(platform.control.comments(postId)).toMatchObject([
    { id: commentId, author: { username: "ben" } },
    { text: "yes", replyToId: commentId },
  ]);
});

test("if a bot is named, the content must be its own", async () => {
  const platform = await runPlatform();
  const { postId = "" } = act(platform, "mention");
  const { commentId = "" } = act(platform, "comment");
  for (const attempt of [
    () => act(platform, "comment", { postId, to: "bot" }),
    () => act(platform, "repost", { postId, to: "bot" }),
    () => act(platform, "like", { commentId, to: "bot" }),
    () => act(platform, "reply", { commentId, to: "bot" }),
  ]) {
    expect(attempt).toThrow("belongs to ada, not to bot");
  }
});

test("an action goes to the named bot, by default to the owner of the named content", async () => {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "other" });
  const { postId = "" } = act(platform, "post", { from: "other", text: "mine" });
  const recipients = (...results: ActResult[]) => {
    const bots = ["bot", "other"].map((bot) => ({
      bot,
      log: platform.control.events(undefined, bot),
    }));
    return results.map(
      ({ events: [event] }) =>
        bots.find(({ log }) => log.some(({ id }) => id === event?.id))?.bot ?? "nobody",
    );
  };
  expect(
    recipients(
      act(platform, "follow"),
      act(platform, "follow", { to: "other" }),
      act(platform, "like", { postId }),
      act(platform, "like", { to: "@Other" }),
      act(platform, "comment", { postId }),
      act(platform, "mention", { postId }),
      act(platform, "mention", { postId: "p_1", to: "other" }),
      act(platform, "mention", { to: "other" }),
      act(platform, "mention", { postId, from: "other" }),
      act(platform, "reply", { to: "other" }),
      act(platform, "follow", { from: "other" }),
      act(platform, "poke", { to: "other" }),
    ),
  ).toEqual([
    ...["bot", "other", "other", "other", "other", "other", "other", "other"],
    ...["bot", "other", "bot", "other"],
  ]);
});

test("a message goes to the bot in the named conversation", async () => {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "other" });
  const { conversationId = "" } = act(platform, "dm.message", { to: "other" });
  expect(act(platform, "dm.message").conversationId).not.toBe(conversationId);
  act(platform, "dm.message", { conversationId });
  expect(platform.control.events(undefined, "other")).toHaveLength(2);
  expect(() => act(platform, "dm.message", { conversationId, to: "bot" })).toThrow(
    `${conversationId} is with other, not with bot`,
  );
  // In this conversation, ada talks to another user rather than a bot.
  expect(() => act(platform, "dm.message", { conversationId: "c_1" })).toThrow(
    "There is no such conversation between ada and a bot: c_1.",
  );
});

test("an event of an unknown type has the given payload, and needs the scope read", async () => {
  const platform = await runPlatform();
  const payload = { question: "Tea?", options: ["yes", { no: null }] };
  const { events } = act(platform, "poll.created", { payload });
  expect(events).toMatchObject([{ type: "poll.created", payload }]);
  expect(parseEvent(events[0])).toMatchObject({ ok: true, event: { payload } });
  expect(act(platform, "poke").events).toMatchObject([{ payload: {} }]);
  const read = async (scope: Scope) => {
    const token = tokenWith(platform, scope);
    return (await request<ActResult>(platform, "GET", "/api/v1/events", { token })).body.events;
  };
  expect(await read("read")).toHaveLength(2);
  expect(await read("dm")).toEqual([]);
});

test("an action on a bot without posts fails with the remedy", async () => {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "other" });
  for (const type of ["comment", "reply", "like", "repost", "quote"]) {
    expect(() => act(platform, type, { to: "other" })).toThrow(
      "other has no posts. Create one with the post action.",
    );
  }
  act(platform, "post", { from: "other" });
  expect(act(platform, "comment", { to: "other" }).events).toHaveLength(1);
});

async function sizeAt(url: string | null | undefined) {
  const served = await fetch(url ?? "");
  const { format, width, height } = await sharp(await served.arrayBuffer()).metadata();
  return [format, width, height];
}

test.each([
  ["dm.message", "", "/dm/conversations/c_2/messages"],
  ["mention", "@bot", "/feed"],
  ["comment", undefined, "/posts/p_1/comments"],
  ["reply", undefined, "/posts/p_1/comments"],
  ["quote", undefined, "/feed"],
] as const)("%s can have images without a text", async (type, excerpt, path) => {
  const platform = await runPlatform();
  const [event] = act(platform, type, { text: "", images: 2 }).events;
  expect(Object(event?.payload).excerpt).toBe(excerpt);
  const list = await request<{ items: { images: Image[] }[] }>(platform, "GET", `/api/v1${path}`);
  const { images = [] } = list.body.items[0] ?? {};
  expect(images).toHaveLength(2);
  expect(await sizeAt(images[1]?.url)).toEqual(["png", 640, 480]);
  // Messages have no `thumbUrl` (section 2 of the platform document).
  if (type !== "dm.message") expect(await sizeAt(images[1]?.thumbUrl)).toEqual(["webp", 320, 240]);
});

test("a post that has only images can be quoted and liked", async () => {
  const platform = await runPlatform();
  const body = { imageKeys: await newKeys(worldOf(platform), 1) };
  await request(platform, "POST", "/api/v1/posts", { body });
  expect(act(platform, "quote", { text: "nice" }).postId).toBe("p_2");
  expect(act(platform, "like").postId).toBe("p_2");
});
