import { describe, expect, test } from "vitest";
import { rejection } from "../client/api.ts";
import { image } from "../platform/support/images.ts";
import { ada, scene } from "./scene.ts";

const ben = { userId: "u_2", username: "ben", name: "Ben" };
const hello = (from: object, conversationId: string) => ({
  type: "dm.message",
  payload: { conversationId, from, excerpt: "hello" },
});
const activity = { actor: ada, entityType: "post", entityId: "post of mine", excerpt: "nice" };

describe("things have the names that events have for them", () => {
  test("a conversation, its message and its user", async () => {
    const { client, platform } = scene();
    platform.happen(hello({ ...ben, username: "Ben Ö" }, "c/2 ü"));
    const [conversation] = (await client.dms.conversations()).items;
    expect(conversation).toMatchObject({ id: "c/2 ü", peer: { username: "Ben Ö" } });
    await client.dms.send("c/2 ü", { text: "hi" });
    expect((await client.dms.messages("c/2 ü")).items).toMatchObject([
      { conversationId: "c/2 ü", authorUsername: "bot", fromBot: true, text: "hi" },
      { conversationId: "c/2 ü", authorUsername: "Ben Ö", fromBot: false, text: "hello" },
    ]);
    expect(await client.users.get("Ben Ö")).toMatchObject({ username: "Ben Ö", isBot: false });
  });

  test("a user may have several conversations", async () => {
    const { client, platform } = scene();
    platform.happen(hello(ada, "c_2"));
    const peers = (await client.dms.conversations()).items.map(({ id, peer }) => [
      id,
      peer.username,
    ]);
    expect(peers).toEqual([
      ["c_2", "ada"],
      ["c_1", "ada"],
    ]);
    expect((await client.dms.messages("c_1")).items).toHaveLength(1);
  });

  test("a mention in a post: the post, by its author", async () => {
    const { client } = scene();
    const post = await client.posts.get("p_1");
    expect(post).toMatchObject({ id: "p_1", text: "look, @bot", author: { username: "ada" } });
  });

  test("a mention in a comment: the comment, and its post", async () => {
    const { client, platform } = scene();
    const payload = { actor: ada, entityType: "comment", entityId: "k_1", postId: "p_7" };
    platform.happen({ type: "mention", payload: { ...payload, excerpt: "hey @bot" } });
    expect(await client.posts.get("p_7")).toMatchObject({ id: "p_7" });
    expect((await client.posts.comments("p_7")).items).toMatchObject([
      { id: "k_1", type: "comment", text: "hey @bot", author: { username: "ada" } },
    ]);
  });

  test("a comment: it, and the bot's post, which the bot has not sent here", async () => {
    const { client, platform } = scene();
    platform.happen({ type: "comment", payload: { ...activity, commentId: "k_1" } });
    expect(await client.posts.get("post of mine")).toMatchObject({ author: { username: "bot" } });
    expect((await client.posts.comments("post of mine")).items).toMatchObject([
      { id: "k_1", text: "nice", author: { username: "ada" } },
    ]);
    expect(platform.sent).toEqual([]);
  });

  test.each(["like", "repost", "quote"])("a %s: the bot's post", async (type) => {
    const { client, platform } = scene();
    platform.happen({ type, payload: activity });
    expect(await client.posts.get("post of mine")).toMatchObject({ author: { username: "bot" } });
    expect((await client.posts.comments("post of mine")).items).toEqual([]);
  });

  test("a reply, and any event of a new type: the post", async () => {
    const { client, platform } = scene();
    for (const type of ["reply", "type.of.tomorrow"]) {
      const payload = { ...activity, entityId: type };
      platform.happen({ type, payload });
      await client.posts.comment(type, { text: "thanks" });
    }
    expect(platform.sent).toMatchObject([{ postId: "reply" }, { postId: "type.of.tomorrow" }]);
  });

  test("a post of the bot's own keeps its id, and an event may name it", async () => {
    const { client, platform } = scene();
    const { id = "" } = await client.posts.create({ text: "mine" });
    platform.happen({ type: "comment", payload: { ...activity, entityId: id } });
    expect(await client.posts.get(id)).toMatchObject({ id, text: "mine" });
    expect((await client.posts.comments(id)).items).toHaveLength(1);
  });

  test("an id of the platform is no name of a test", async () => {
    const { client, platform } = scene();
    platform.happen(hello(ben, "mine"));
    const names = (await client.dms.conversations()).items.map(({ id }) => id);
    expect(names).toEqual(["mine", "c_1"]);
    for (const id of ["c_2", "c_3"]) {
      expect(await rejection(client.dms.messages(id))).toMatchObject({ code: "NOT_FOUND" });
    }
  });
});

describe("the event log", () => {
  test("has the events under their ids, each once, and new ones for those without", async () => {
    const { client, platform } = scene();
    platform.happen({ id: "1", ...hello(ada, "c_1") });
    platform.happen(hello(ada, "c_1"));
    const { events, cursor } = await client.events();
    const ids = events.map((event) => (event as { id: string }).id);
    expect(ids.slice(0, 2)).toEqual(["1", "2"]);
    expect(new Set(ids).size).toBe(3);
    expect((await client.dms.messages("c_1")).items).toHaveLength(2);
    expect(await client.events({ since: cursor })).toMatchObject({ events: [], cursor });
    expect((await client.events({ since: "1" })).events).toHaveLength(2);
  });

  test("names in an event are the test's", async () => {
    const { client } = scene();
    expect((await client.events()).events).toMatchObject([
      { id: "1", payload: { conversationId: "c_1", from: { username: "ada" } } },
      { id: "2", payload: { postId: "p_1", actor: { username: "ada" } } },
    ]);
  });

  test("an event that the platform could not have sent changes nothing", async () => {
    const { client, platform } = scene();
    platform.happen({ type: "No type", payload: {} });
    platform.happen({
      type: "dm.message",
      payload: { conversationId: "c_9", excerpt: "x".repeat(9_000) },
    });
    expect((await client.events()).events).toHaveLength(2);
  });
});

describe("records", () => {
  test("what the bot has sent, in order", async () => {
    const { client, platform } = scene();
    await client.dms.send("c_1", { text: "one" });
    await client.posts.comment("p_1", { text: "two" });
    await client.posts.create({ text: "three" });
    expect(await rejection(client.dms.send("c_2", { text: "four" }))).toMatchObject({
      code: "NOT_FOUND",
    });
    expect(platform.sent).toEqual([
      { kind: "dm", conversationId: "c_1", text: "one" },
      { kind: "comment", postId: "p_1", text: "two" },
      { kind: "post", text: "three" },
    ]);
    expect(platform.calls).toHaveLength(4);
  });

  test("each upload in the order of the requests, in any form, attached where it was sent", async () => {
    const { client, platform } = scene();
    const [png, webp] = [await image(), await image("webp")];
    const url = "https://example.com/a.png";
    const dataBase64 = webp.toString("base64");
    await platform.fetch("http://platform.test/api/v1/uploads", {
      method: "POST",
      headers: { authorization: "Bearer x", "content-type": "application/json" },
      body: JSON.stringify({ dataBase64, contentType: "image/webp" }),
    });
    await client.posts.create({ images: [png, { url }, webp] });
    expect(platform.uploads).toEqual([
      { key: expect.any(String), contentType: "image/webp", bytes: webp },
      { key: expect.any(String), contentType: "image/png", bytes: new Uint8Array(png) },
      { key: expect.any(String), url },
      { key: expect.any(String), contentType: "image/webp", bytes: new Uint8Array(webp) },
    ]);
    const imageKeys = platform.uploads.slice(1).map(({ key }) => key);
    expect(platform.sent).toEqual([{ kind: "post", text: "", imageKeys }]);
    expect(await rejection(client.posts.create({ imageKeys }))).toMatchObject({
      code: "INVALID_IMAGE_KEY",
    });
  });
});

test("a key is good for an hour of the clock", async () => {
  const { client, clock } = scene();
  const { key } = await client.upload({ url: "https://example.com/a.png" });
  await clock.advance(3_600_000);
  expect(await rejection(client.posts.create({ imageKeys: [key] }))).toMatchObject({
    code: "INVALID_IMAGE_KEY",
  });
});
