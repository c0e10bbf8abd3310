import { describe, expect, test } from "vitest";
import { image } from "../platform/support/images.ts";
import { act } from "../platform/support/platform.ts";
import { world } from "./platform.ts";

describe("each operation of section 4, against the local platform", () => {
  test("GET /me", async () => {
    const { client } = await world();
    expect(await client.me()).toMatchObject({ username: "bot", isBot: true });
  });

  test("GET /feed", async () => {
    const { client } = await world();
    await client.posts.create({ text: "news" });
    expect((await client.feed({ limit: 1 })).items).toMatchObject([{ text: "news", images: [] }]);
  });

  test("POST /posts and GET /posts/:id", async () => {
    const { client } = await world();
    const { id = "" } = await client.posts.create({ text: "news" });
    expect(await client.posts.get(id)).toMatchObject({ id, type: "post", text: "news" });
  });

  test("POST and GET /posts/:id/comments", async () => {
    const { client } = await world();
    const { id } = await client.posts.comment("p_1", { text: "nice" });
    expect((await client.posts.comments("p_1")).items).toMatchObject([{ id, text: "nice" }]);
  });

  test("GET /users/:username, with and without the @", async () => {
    const { client } = await world();
    expect(await client.users.get("ada")).toMatchObject({ username: "ada", isBot: false });
    expect(await client.users.get("@ada")).toEqual(await client.users.get("ada"));
  });

  test("GET /search", async () => {
    const { client } = await world();
    await client.posts.create({ text: "a word about narwhals" });
    const { items } = await client.search({ text: "narwhals" }, { limit: 5 });
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items)).toContain("narwhals");
  });

  test("GET /dm/conversations", async () => {
    const { client } = await world();
    expect((await client.dms.conversations()).items).toMatchObject([
      { id: "c_2", peer: { username: "ada", isBot: false }, lastMessage: { fromBot: false } },
    ]);
  });

  test("GET and POST /dm/conversations/:id/messages", async () => {
    const { client } = await world();
    const { id } = await client.dms.send("c_2", { text: "hello" });
    expect((await client.dms.messages("c_2", { limit: 1 })).items).toMatchObject([
      { id, conversationId: "c_2", fromBot: true, text: "hello", images: [] },
    ]);
  });

  test("GET /events", async () => {
    const { client } = await world();
    const page = await client.events();
    expect(page.events).toMatchObject([{ type: "dm.message" }]);
    expect(page.date).toBeTypeOf("number");
    expect(await client.events({ since: page.cursor })).toMatchObject({
      events: [],
      cursor: page.cursor,
    });
  });

  test("listings go from page to page, to the end", async () => {
    const { client, platform } = await world();
    for (const text of ["1", "2", "3", "4"]) act(platform, "dm.message", { text });
    const texts: string[] = [];
    for await (const { text } of client.dms.messages("c_2", { limit: 2 })) texts.push(text);
    expect(texts.slice(0, 4)).toEqual(["4", "3", "2", "1"]);
    expect(texts).toHaveLength(5);
  });
});

test("posts, comments and messages take images in any form", async () => {
  const { client } = await world();
  const [png, gif] = [await image("png"), await image("gif")];
  const key = await client.upload(png);
  const images = [png, "https://images.example/a.png", new Blob([gif]), key];
  const { id = "" } = await client.posts.create({ text: "four", images });
  expect((await client.posts.get(id)).images).toHaveLength(4);
  await client.posts.comment("p_1", { images: [gif] });
  expect((await client.posts.comments("p_1")).items[0]?.images).toHaveLength(1);
  await client.dms.send("c_2", { images: [gif, gif] });
  expect((await client.dms.messages("c_2")).items[0]).toMatchObject({
    text: "",
    images: [{ width: 9 }, { width: 9 }],
  });
});
