import { expect } from "vitest";
import { control, expectRefusal, get, post, read } from "../conformance/http.ts";
import {
  act,
  conversationWith,
  events,
  groupWithBot,
  idsOf,
  messagesOf,
  newComment,
  newPost,
  sendMessage,
  tokenOfOtherApp,
  writePaths,
} from "../conformance/setup.ts";
import { type Activity, ISO_UTC_MS, type Message, type Page } from "../conformance/wire.ts";
import type { World } from "../conformance/world.ts";
import { choice } from "./choice.ts";

const AVATAR = expect.stringMatching(/\/media\/avatar\.webp$/);

interface Listed {
  readonly id: string;
  readonly text: string;
}

/** Reads a list to its end, in pages of two, and returns the ids. */
async function allOf(world: World, path: string): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await read<Page<Listed>>(world, `${path}limit=2${cursor}`);
    expect(page.items.length).toBeLessThanOrEqual(2);
    seen.push(...idsOf(page.items));
    if (page.nextCursor === null) return seen;
    cursor = `&cursor=${page.nextCursor}`;
  }
}

choice("posts and comments", async (world) => {
  const author = { username: "bot", name: "Bot", isBot: true };
  const content = {
    text: "news",
    images: [],
    author,
    createdAt: expect.stringMatching(ISO_UTC_MS),
  };
  const post = await newPost(world, { text: "news" });
  expect(post).toEqual({ id: "p_2", type: "post", ...content });
  expect(await read(world, "/posts/p_2")).toEqual(post);
  const comment = await newComment(world, { text: "news" }, "p_2");
  expect(comment).toEqual({ id: "cm_1", type: "comment", ...content, postId: "p_2" });
  await act(world, "comment", { postId: "p_2", count: 2 });
  await act(world, "comment", { postId: "p_1" });
  expect(await allOf(world, "/posts/p_2/comments?")).toEqual(["cm_3", "cm_2", "cm_1"]);
  const { items } = await read<Page<unknown>>(world, "/posts/p_2/comments");
  expect(items[0]).toMatchObject({ author: { username: "ada", name: "Ada", isBot: false } });
});

choice("`GET /feed`", async (world) => {
  const trending = (query = "") => get(world, `/feed?sort=trending${query}`);
  expect((await trending()).body).toEqual({ items: [], nextCursor: null });
  const [a, b, c, d] = ["a", "b", "c", "d"].map((text) => ({ text }));
  const made: string[] = [];
  for (const body of [a, b, c, d]) made.push((await act(world, "post", body)).postId ?? "");
  await act(world, "like", { postId: made[1] });
  await act(world, "comment", { postId: made[1] });
  await act(world, "repost", { postId: made[0] });
  await act(world, "quote", { postId: made[0], from: "ben" });
  await act(world, "like", { postId: made[2], count: 3 });
  await act(world, "like", { postId: "p_1", count: 100 });
  expect(await allOf(world, "/feed?sort=trending&")).toEqual(["p_4", "p_3", "p_2", "p_6", "p_5"]);
  const recent = ["p_6", "p_5", "p_4", "p_3", "p_2", "p_1"];
  expect(await allOf(world, "/feed?")).toEqual(recent);
  expect(await allOf(world, "/feed?sort=recent&")).toEqual(recent);
  for (const query of ["newest", "", "trending&cursor=p_1", "trending&cursor=1.x"]) {
    expectRefusal(await get(world, `/feed?sort=${query}`), 400, "VALIDATION");
  }
});

choice("`GET /me`, `GET /users/:username`", async (world) => {
  const bot = { id: "u_1", username: "bot", name: "Bot", isBot: true, avatarUrl: null };
  expect(await read(world, "/me")).toEqual(bot);
  expect(await read(world, "/users/bot")).toEqual(bot);
  const ada = { id: "u_2", username: "ada", name: "Ada", isBot: false, avatarUrl: AVATAR };
  expect(await read(world, "/users/ADA")).toEqual(ada);
  const other = { username: "other", isBot: true };
  expect(await read(world, "/me", await tokenOfOtherApp(world))).toMatchObject(other);
  expectRefusal(await get(world, "/users/cleo"), 404, "NOT_FOUND");
  await act(world, "follow", { from: "cleo" });
  expect(await read(world, "/users/cleo")).toMatchObject({ username: "cleo", name: "Cleo" });
});

choice("`GET /search`", async (world) => {
  await act(world, "mention", { from: "cleo", text: "Clouds, cleo's" });
  await act(world, "mention", { from: "cleon", text: "more CLOUDS, ÜBER ΑΘΗΝΑ" });
  await act(world, "comment", { text: "a needle" });
  await act(world, "dm.message", { text: "a needle" });
  const expected: Readonly<Record<string, readonly string[]>> = {
    clouds: ["p_3", "p_2"],
    "  ClOuDs ": ["p_3", "p_2"],
    bot: ["u_1", "p_3", "p_2"],
    CLEON: ["u_5"],
    über: ["p_3"],
    αθηνα: ["p_3"],
    needle: [],
    "%": [],
    _: [],
    "c*": [],
  };
  for (const [q, ids] of Object.entries(expected)) {
    expect({ q, ids: await allOf(world, `/search?q=${encodeURIComponent(q)}&`) }).toEqual({
      q,
      ids,
    });
  }
  // Post numbers exceed user numbers, so paging by number alone would leave a gap.
  await act(world, "mention", { from: "cleo", text: "cleo again", count: 4 });
  const found = ["u_5", "u_4", "p_7", "p_6", "p_5", "p_4", "p_2"];
  expect(await allOf(world, "/search?q=cleo&")).toEqual(found);
  const { items } = await read<Page<unknown>>(world, "/search?q=cleo");
  expect(items[0]).toEqual({ type: "user", ...(await read<object>(world, "/users/cleon")) });
  expect(items.at(-1)).toEqual(await read(world, "/posts/p_2"));
  for (const query of [
    "",
    "?q=",
    "?q=%20",
    `?q=${"x".repeat(201)}`,
    "?q=a&q=b",
    "?q=a&cursor=cm_1",
  ]) {
    expectRefusal(await get(world, `/search${query}`), 400, "VALIDATION");
  }
});

choice("mention", async (world) => {
  const texts = [
    "@bot",
    "hey @Bot!",
    "(@BOT).",
    "me@bot",
    "me_@bot",
    ".@bot",
    "/@bot",
    "@@bot",
    "@botany",
  ];
  for (const text of texts) await act(world, "post", { text });
  const found = (await events(world)).events.map(({ payload }) => (payload as Activity).excerpt);
  expect(found).toEqual(texts.slice(0, 3));
});

choice("`replyToId` of a message", async (world) => {
  const conversation = await conversationWith(world);
  const { id } = await sendMessage(world, conversation, { text: "yes?" });
  await act(world, "dm.message", { text: "never mind" });
  await act(world, "dm.message", { text: "bye" });
  const { items } = await read<Page<Message>>(world, messagesOf(conversation));
  expect(items.map(({ replyToId }) => replyToId)).toEqual([null, id, null, null]);
});

choice("groups", async (world) => {
  const group = await groupWithBot(world);
  const { items } = await read<Page<Message>>(world, messagesOf(group));
  expect(items.length).toBeGreaterThan(0);
  expect(await read(world, "/dm/conversations")).toMatchObject({ items: [] });
});

choice("blocks", async (world) => {
  await conversationWith(world);
  await control(world, "PUT", "/blocks", { by: "bot", whom: "ada" });
  await expect(conversationWith(world)).rejects.toThrow('answered 403: {"error":{"code":"BLOCKED"');
  await conversationWith(world, "ben");
});

choice("text", async (world) => {
  const longest = "🙂".repeat(4000);
  for (const path of await writePaths(world)) {
    expectRefusal(await post(world, path, { text: "  \n" }), 400, "EMPTY");
    expectRefusal(await post(world, path, {}), 400, "EMPTY");
    expectRefusal(await post(world, path, { text: `${longest}x` }), 400, "TOO_LONG");
    expect((await post(world, path, { text: longest, imageKeys: null })).status).toBe(201);
  }
  expect((await read<Page<Listed>>(world, "/feed")).items[0]?.text).toBe(longest);
});

choice("`excerpt`", async (world) => {
  await act(world, "dm.message", { text: "🙂".repeat(300) });
  await act(world, "post", { text: `@bot ${"🙂".repeat(300)}` });
  const [message, mention] = (await events(world)).events;
  expect(message?.payload).toMatchObject({ excerpt: "🙂".repeat(200) });
  expect(mention?.payload).toMatchObject({ excerpt: `@bot ${"🙂".repeat(195)}` });
});
