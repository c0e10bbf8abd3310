import { describe, expect, test } from "vitest";
import { rejection } from "../client/api.ts";
import type { Http } from "../faces/client.ts";
import { image } from "../platform/support/images.ts";
import { ada, scene } from "./scene.ts";

describe("the platform in memory answers each operation", () => {
  test("of reading", async () => {
    const { client, platform } = scene();
    const payload = { actor: ada, entityType: "post", entityId: "p_7", excerpt: "about narwhals" };
    platform.happen({ id: "2", type: "mention", payload });
    expect(await client.me()).toMatchObject({ username: "bot", isBot: true });
    expect(await client.users.get("ada")).toMatchObject({ name: "Ada", isBot: false });
    expect(await client.posts.get("p_7")).toMatchObject({
      author: { username: "ada" },
      images: [],
    });
    expect((await client.search({ text: "Narwhals" })).items).toMatchObject([{ id: "p_7" }]);
    expect((await client.search({ text: "ada" })).items).toMatchObject([{ username: "ada" }]);
    expect((await client.feed()).items).toEqual([]);
    expect((await client.dms.conversations()).items).toMatchObject([
      { id: "c_1", peer: { username: "ada" }, lastMessage: { text: "hello", fromBot: false } },
    ]);
    expect((await client.dms.messages("c_1")).items).toMatchObject([{ text: "hello" }]);
    expect(await client.events({ since: "5" })).toMatchObject({ events: [], cursor: "5" });
  });

  test("of writing", async () => {
    const { client, platform } = scene();
    await client.dms.send("c_1", { text: "one" });
    await client.posts.comment("p_1", { text: "two" });
    const { id = "" } = await client.posts.create({ text: "three" });
    expect(platform.sent).toEqual([
      { kind: "dm", conversationId: "c_1", text: "one" },
      { kind: "comment", postId: "p_1", text: "two" },
      { kind: "post", text: "three" },
    ]);
    expect((await client.feed()).items).toMatchObject([{ id, type: "post", text: "three" }]);
    expect((await client.posts.comments("p_1")).items).toMatchObject([{ text: "two" }]);
    expect((await client.dms.conversations()).items).toMatchObject([
      { lastMessage: { text: "one", fromBot: true } },
    ]);
  });

  test("of uploading, in each form, and shows the images where they were attached", async () => {
    const { client } = scene();
    const png = await image();
    const { key } = await client.upload(png, { form: "base64" });
    const images = [png, { url: "https://example.com/a.png" }, key];
    await client.dms.send("c_1", { images });
    const [message] = (await client.dms.messages("c_1")).items;
    expect(message).toMatchObject({ text: "", fromBot: true });
    expect(message?.images).toHaveLength(3);
    expect(message?.images[0]).not.toHaveProperty("thumbUrl");
    await client.posts.create({ images: [png] });
    expect((await client.feed()).items[0]?.images[0]).toHaveProperty("thumbUrl");
  });
});

describe("the platform in memory refuses what the document says is refused", () => {
  const post = { json: { text: "hi" } };
  const five = { json: { imageKeys: ["1", "2", "3", "4", "5"] } };
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(5_242_881)]));

  test.each<[string, number, string, Parameters<Http["request"]>]>([
    ["NOT_FOUND", 404, "another conversation", ["POST", "/dm/conversations/c_2/messages", post]],
    ["NOT_FOUND", 404, "another conversation", ["GET", "/dm/conversations/c_2/messages"]],
    ["NOT_FOUND", 404, "a post that is not there", ["GET", "/posts/p_9"]],
    ["NOT_FOUND", 404, "a person that nobody has met", ["GET", "/users/ben"]],
    ["NOT_FOUND", 404, "another address", ["GET", "/nowhere"]],
    ["EMPTY", 400, "neither text nor image", ["POST", "/posts", { json: {} }]],
    ["TOO_MANY_IMAGES", 400, "five images", ["POST", "/posts", five]],
    ["INVALID_IMAGE_KEY", 400, "no such key", ["POST", "/posts", { json: { imageKeys: ["x"] } }]],
    ["VALIDATION", 400, "a text that is none", ["POST", "/posts", { json: { text: 5 } }]],
    ["VALIDATION", 400, "a limit of 0", ["GET", "/feed", { query: { limit: 0 } }]],
    ["VALIDATION", 400, "a limit of 51", ["GET", "/feed", { query: { limit: 51 } }]],
    ["VALIDATION", 400, "no cursor", ["GET", "/feed", { query: { cursor: "x" } }]],
    ["VALIDATION", 400, "an upload of nothing", ["POST", "/uploads", { json: {} }]],
    ["VALIDATION", 400, "a form without a file", ["POST", "/uploads", { form: new FormData() }]],
    ["VALIDATION", 400, "no image", ["POST", "/uploads", { json: { dataBase64: "aGk=" } }]],
    ["TOO_LARGE", 400, "over 5 MB", ["POST", "/uploads", { form }]],
    ["BLOCKED_HOST", 400, "http", ["POST", "/uploads", { json: { url: "http://a.example/a" } }]],
  ])("%s %i: %s", async (code, status, _what, request) => {
    const { http, platform } = scene();
    expect(await rejection(http.request(...request))).toMatchObject({ code, status, local: false });
    expect(platform.sent).toEqual([]);
    expect(platform.calls).toHaveLength(1);
  });

  test("a key is good for an hour, for one use, and for one place in a list", async () => {
    const { client, wait } = scene();
    const upload = async () => (await client.upload({ url: "https://example.com/a.png" })).key;
    const invalid = { code: "INVALID_IMAGE_KEY" };
    const used = await upload();
    await client.posts.create({ imageKeys: [used] });
    expect(await rejection(client.posts.create({ imageKeys: [used] }))).toMatchObject(invalid);
    const key = await upload();
    expect(await rejection(client.posts.create({ imageKeys: [key, key] }))).toMatchObject(invalid);
    // What is refused consumes nothing.
    expect(await rejection(client.posts.create({ imageKeys: [key, used] }))).toMatchObject(invalid);
    wait(3_599_999);
    await client.posts.create({ imageKeys: [key] });
    const late = await upload();
    wait(3_600_000);
    expect(await rejection(client.posts.create({ imageKeys: [late] }))).toMatchObject(invalid);
  });
});

test("listings come in pages, newest first", async () => {
  const { client } = scene();
  for (const text of ["1", "2", "3", "4", "5"]) await client.posts.create({ text });
  expect(await client.feed({ limit: 2 })).toMatchObject({
    items: [{ text: "5" }, { text: "4" }],
    nextCursor: "2",
  });
  const texts: string[] = [];
  for await (const { text } of client.feed({ limit: 2 })) texts.push(text);
  expect(texts).toEqual(["5", "4", "3", "2", "1"]);
});

test("the same event again changes nothing", async () => {
  const { client, platform } = scene();
  const payload = { conversationId: "c_1", from: ada, excerpt: "hello" };
  platform.happen({ id: "1", type: "dm.message", payload });
  expect((await client.dms.messages("c_1")).items).toHaveLength(1);
});
