import { describe, expect, test } from "vitest";
import { rejection } from "../client/api.ts";
import { ada, scene } from "./scene.ts";

const ben = { userId: "u_2", username: "ben", name: "Ben" };
const hello = (from: object, conversationId: string) => ({
  type: "dm.message",
  payload: { conversationId, from, excerpt: "hello" },
});
const activity = { actor: ada, entityType: "post", entityId: "p_1", excerpt: "nice" };

describe("conversations", () => {
  test("come by the last message that was received, newest first", async () => {
    const { client, platform } = scene();
    const names = async () =>
      (await client.dms.conversations()).items.map(({ peer }) => peer.username);
    platform.happen(hello(ben, "c_2"));
    expect(await names()).toEqual(["ben", "ada"]);
    platform.happen(hello(ada, "c_1"));
    expect(await names()).toEqual(["ada", "ben"]);
    // What the bot says itself is not received.
    await client.dms.send("c_2", { text: "hi" });
    expect(await names()).toEqual(["ada", "ben"]);
  });
});

describe("events without an id", () => {
  test("are as many as there are", async () => {
    const { client, platform } = scene();
    for (let i = 0; i < 3; i++) platform.happen(hello(ada, "c_1"));
    expect((await client.dms.messages("c_1")).items).toHaveLength(4);
    const ids = (await client.events()).events.map((event) => (event as { id: string }).id);
    expect(new Set(ids).size).toBe(4);
  });
});

describe("the log", () => {
  /** Five events, of which one was there before; the last one happens first. */
  function log() {
    const { client, platform } = scene();
    for (const id of ["10", "2", "3", "4"]) platform.happen({ id, ...hello(ada, "c_1") });
    const read = async (query: { since?: string; limit?: number }) => {
      const { events, cursor } = await client.events(query);
      return { ids: events.map((event) => (event as { id: string }).id), cursor };
    };
    return { client, platform, read };
  }

  test("has whole events, each once", async () => {
    const { client, platform } = scene();
    const event = { id: "1", ...hello(ada, "c_1") };
    // It has happened already: another date changes nothing.
    platform.happen({ ...event, createdAt: "2026-02-02T00:00:00.000Z" });
    const createdAt = "2026-01-01T00:00:00.000Z";
    expect((await client.events()).events).toEqual([{ ...event, createdAt }]);
  });

  test("is read from the oldest event on, in the order of ids", async () => {
    const { read } = log();
    expect(await read({})).toEqual({ ids: ["1", "2", "3", "4", "10"], cursor: "10" });
  });

  test("comes in pages, each after the cursor of the one before", async () => {
    const { read } = log();
    expect(await read({ limit: 2 })).toEqual({ ids: ["1", "2"], cursor: "2" });
    expect(await read({ since: "2", limit: 2 })).toEqual({ ids: ["3", "4"], cursor: "4" });
    expect(await read({ since: "4", limit: 2 })).toEqual({ ids: ["10"], cursor: "10" });
    expect(await read({ since: "10", limit: 2 })).toEqual({ ids: [], cursor: "10" });
  });

  test("begins with the present where the position is empty", async () => {
    const { platform, read } = log();
    expect(await read({ since: "" })).toEqual({ ids: [], cursor: "10" });
    platform.happen({ id: "11", ...hello(ada, "c_1") });
    expect(await read({ since: "10" })).toEqual({ ids: ["11"], cursor: "11" });
  });

  test("takes a limit of 1 to 50", async () => {
    const { http } = scene();
    for (const limit of [0, 51]) {
      const error = await rejection(http.request("GET", "/events", { query: { limit } }));
      expect(error).toMatchObject({ status: 400, code: "VALIDATION" });
    }
  });
});

describe("what an event is about is there from then on", () => {
  test("a mention in a post: the post, by who wrote it", async () => {
    const { client, platform } = scene();
    platform.happen({ type: "mention", payload: activity });
    expect(await client.posts.get("p_1")).toMatchObject({
      text: "nice",
      author: { username: "ada" },
    });
  });

  test("a mention in a comment: the comment, and the post that it is on", async () => {
    const { client, platform } = scene();
    const payload = { actor: ada, entityType: "comment", entityId: "k_1", postId: "p_1" };
    platform.happen({ type: "mention", payload: { ...payload, excerpt: "hey" } });
    expect(await client.posts.get("p_1")).toMatchObject({ id: "p_1", text: "" });
    expect((await client.posts.comments("p_1")).items).toMatchObject([
      { id: "k_1", type: "comment", text: "hey", author: { username: "ada" } },
    ]);
  });

  test("a comment: it, and the bot's post, which the bot has not said here", async () => {
    const { client, platform } = scene();
    platform.happen({ type: "comment", payload: { ...activity, commentId: "k_1" } });
    platform.happen({ type: "comment", payload: activity });
    expect(await client.posts.get("p_1")).toMatchObject({ author: { username: "bot" } });
    expect((await client.posts.comments("p_1")).items).toMatchObject([
      { text: "nice" },
      { id: "k_1", text: "nice", author: { username: "ada" } },
    ]);
    expect(platform.sent).toEqual([]);
  });

  test.each(["like", "repost", "quote"])("a %s: the bot's post", async (type) => {
    const { client, platform } = scene();
    platform.happen({ type, payload: activity });
    expect(await client.posts.get("p_1")).toMatchObject({ author: { username: "bot" } });
    expect((await client.posts.comments("p_1")).items).toEqual([]);
  });

  test("the words of a like are the post's, those of a quote are not", async () => {
    const { client, platform } = scene();
    platform.happen({ type: "like", payload: activity });
    platform.happen({ type: "quote", payload: { ...activity, entityId: "p_2" } });
    expect(await client.posts.get("p_1")).toMatchObject({ text: "nice" });
    expect(await client.posts.get("p_2")).toMatchObject({ text: "" });
  });

  test("a post that is known stays as it is", async () => {
    const { client, platform } = scene();
    const { id = "" } = await client.posts.create({ text: "mine" });
    platform.happen({ type: "comment", payload: { ...activity, entityId: id } });
    expect(await client.posts.get(id)).toMatchObject({ text: "mine" });
  });
});
