import { expect } from "vitest";
import { read, write } from "../conformance/http.ts";
import {
  act,
  conversationWith,
  events,
  idsOf,
  newComment,
  newPost,
  sendMessage,
  tokenOfOtherApp,
  tokenWith,
} from "../conformance/setup.ts";
import type { Content } from "../conformance/wire.ts";
import type { World } from "../conformance/world.ts";
import { choice } from "./choice.ts";

interface Profile {
  readonly id: string;
  readonly username: string;
  readonly name: string;
}

const types = async (world: World, token?: string) =>
  (await events(world, "?limit=50", token)).events.map(({ type }) => type);

const payloads = async (world: World) =>
  (await events(world)).events.map(({ type, payload }) => ({ type, payload }));

choice("event ids", async (world) => {
  const other = await tokenOfOtherApp(world);
  for (const to of ["bot", "other", "bot"]) await act(world, "follow", { to });
  expect(idsOf((await events(world)).events)).toEqual(["evt_000000000001", "evt_000000000003"]);
  expect(idsOf((await events(world, "", other)).events)).toEqual(["evt_000000000002"]);
});

choice("`cursor`", async (world) => {
  for (const query of ["", "?since="]) {
    expect(await events(world, query)).toEqual({ events: [], cursor: "evt_000000000000" });
  }
  const ahead = "evt_000000009999";
  expect(await events(world, `?since=${ahead}`)).toEqual({ events: [], cursor: ahead });
  const other = await tokenOfOtherApp(world);
  await act(world, "like", { count: 2 });
  await act(world, "dm.message");
  await act(world, "follow", { to: "other" });
  const reader = await tokenWith(world, "read");
  expect((await events(world, "?since=", reader)).cursor).toBe("evt_000000000003");
  expect((await events(world, "?since=", other)).cursor).toBe("evt_000000000004");
});

choice("events outside the token's scopes", async (world) => {
  await act(world, "dm.message", { count: 60 });
  await act(world, "like", { count: 3 });
  const { events: page } = await events(world, "?limit=3", await tokenWith(world, "read"));
  expect(page.map(({ type }) => type)).toEqual(["like", "like", "like"]);
});

choice("several conditions at once", async (world) => {
  const other = await tokenOfOtherApp(world);
  const text = "@bot, @other, @bot!";
  const { id: postId } = await newPost(world);
  const { id: commentId } = await newComment(world, { text: "mine" }, postId);
  await act(world, "comment", { postId, text });
  await act(world, "reply", { commentId, text });
  await act(world, "quote", { postId, text });
  await act(world, "post", { text });
  expect(await types(world)).toEqual([
    ...["comment", "mention"],
    ...["reply", "comment", "mention"],
    ...["quote", "mention"],
    "mention",
  ]);
  expect(await types(world, other)).toEqual(["mention", "mention", "mention", "mention"]);
});

choice("a bot's own content", async (world) => {
  const other = await tokenOfOtherApp(world);
  const { id: postId } = await newPost(world, { text: "@bot" });
  await newComment(world, { text: "@bot" }, postId);
  await sendMessage(world, await conversationWith(world), { text: "hello" });
  for (const from of ["bot", "other"]) {
    for (const type of ["like", "repost", "quote", "comment"])
      await act(world, type, { from, postId });
  }
  expect(await types(world)).toEqual(["dm.message", "like", "repost", "quote", "comment"]);
  await sendMessage(world, await conversationWith(world, "other"), { text: "hello, other" });
  expect(await types(world, other)).toEqual(["dm.message"]);
  const { id: entityId } = await write<Content>(
    world,
    "/posts",
    { text: "hello @bot, says @other" },
    other,
  );
  const { type, payload } = (await events(world)).events.at(-1) ?? {};
  expect({ type, payload }).toEqual({
    type: "mention",
    payload: {
      actor: { username: "other", name: "Other" },
      entityType: "post",
      entityId,
      postId: entityId,
      excerpt: "hello @bot, says @other",
    },
  });
  expect(await types(world, other)).toEqual(["dm.message"]);
  const [event] = (await events(world, "", other)).events;
  const { id: userId, username, name } = await read<Profile>(world, "/me");
  expect(event?.payload).toMatchObject({
    from: { userId, username, name },
    excerpt: "hello, other",
  });
});

/** Makes one event of each type, and returns the payloads without their actors and excerpts. */
async function targets(world: World): Promise<Readonly<Record<string, unknown>>> {
  await newComment(world, { text: "mine" }, "p_1");
  const made = ["mention", "comment", "reply", "quote", "like", "repost", "follow"];
  for (const type of made) await act(world, type, type === "like" ? { commentId: "cm_1" } : {});
  return Object.fromEntries((await payloads(world)).map(({ type, payload }) => [type, payload]));
}

choice("`entityType`, `entityId`", async (world) => {
  expect(await targets(world)).toMatchObject({
    mention: { entityType: "post", entityId: "p_2" },
    comment: { entityType: "comment", entityId: "cm_3" },
    reply: { entityType: "comment", entityId: "cm_3" },
    quote: { entityType: "post", entityId: "p_3" },
    like: { entityType: "comment", entityId: "cm_1" },
    repost: { entityType: "post", entityId: "p_1" },
    follow: { entityType: "user", entityId: "u_1" },
  });
});

choice("`postId`, `commentId`", async (world) => {
  const about = Object.entries(await targets(world)).map(([type, payload]) => {
    const { postId, commentId } = payload as { postId?: string; commentId?: string };
    return [type, postId, commentId];
  });
  expect(about).toEqual([
    ["mention", "p_2", undefined],
    ["comment", "p_1", "cm_3"],
    ["reply", "p_1", "cm_3"],
    ["quote", "p_1", undefined],
    ["like", "p_1", "cm_1"],
    ["repost", "p_1", undefined],
    ["follow", undefined, undefined],
  ]);
  expect(await read(world, "/posts/p_2")).toMatchObject({ author: { username: "ada" } });
});
