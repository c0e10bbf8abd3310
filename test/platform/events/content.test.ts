import { expect, test } from "vitest";
import { optionalFields } from "../../faces/events.ts";
import type { Platform } from "../../faces/platform.ts";
import { act, request, runPlatform } from "../support/platform.ts";

async function runTwo(): Promise<{ platform: Platform; token: string }> {
  const platform = await runPlatform();
  return { platform, token: platform.control.apps.create({ username: "other" }).apiKey };
}

const types = (platform: Platform, bot: string) =>
  platform.control.events(undefined, bot).map(({ type }) => type);

test("a requested mention makes the mention event first, even below the bot's own post", async () => {
  const { platform } = await runTwo();
  act(platform, "mention", { postId: "p_1", text: "@bot" });
  act(platform, "comment", { postId: "p_1", text: "@bot" });
  expect(types(platform, "bot")).toEqual(["mention", "comment", "comment", "mention"]);
});

test("a text's events appear all at once, or not at all", async () => {
  const { platform } = await runTwo();
  platform.control.setFaults({ events: { mode: "late", lateMs: 60_000, times: 1 } });
  const { events } = act(platform, "comment", { text: "@bot", postId: "p_1" });
  expect(events.map(({ type, createdAt }) => [type, createdAt])).toEqual([
    ["comment", events[0]?.createdAt],
    ["mention", events[0]?.createdAt],
  ]);
  const refused = () => act(platform, "comment", { text: "@bot", imageKeys: ["img_none"] });
  expect(refused).toThrow(expect.objectContaining({ code: "INVALID_IMAGE_KEY" }));
  expect(types(platform, "bot")).toEqual(["mention"]);
});

test("a bot's own actions make events while the fault `own` lasts", async () => {
  const { platform, token } = await runTwo();
  const comment = (text: string, by: { token?: string } = {}) =>
    request(platform, "POST", "/api/v1/posts/p_1/comments", { body: { text }, ...by });
  platform.control.setFaults({ events: { mode: "own", times: 2 } });
  await comment("mine, @bot");
  await comment("mine, and reported no more");
  await comment("of another", { token });
  expect(types(platform, "bot")).toEqual(["comment", "mention", "comment"]);
  platform.control.setFaults({ events: { mode: "own" } });
  const { conversationId = "" } = act(platform, "dm.message", { text: "hi" });
  const path = `/api/v1/dm/conversations/${conversationId}/messages`;
  await request(platform, "POST", path, { body: { text: "hello" } });
  const [received, own] = platform.control.events().slice(-2);
  expect(received?.payload).toMatchObject({ from: { username: "ada" }, excerpt: "hi" });
  expect(own?.payload).toMatchObject({ conversationId, from: { username: "bot" } });
});

test("sparse events lack each optional field by turns, and then all of them", async () => {
  const { platform } = await runTwo();
  platform.control.setFaults({ events: { mode: "sparse" } });
  const fields = () => {
    const [event] = act(platform, "comment", { text: "nice" }).events;
    return optionalFields.filter((name) => name in (event?.payload ?? {}));
  };
  for (const missing of optionalFields) {
    expect(fields()).toEqual(optionalFields.filter((name) => name !== missing));
  }
  expect(fields()).toEqual([]);
  expect(fields()).toEqual(optionalFields.slice(1));
  const [message] = act(platform, "dm.message", { text: "hi" }).events;
  expect(message?.payload).toMatchObject({ conversationId: "c_2", excerpt: "hi" });
});

test("a reply to a user below a bot's post is a comment for the bot", async () => {
  const { platform } = await runTwo();
  const { commentId = "" } = act(platform, "comment");
  const reply = act(platform, "reply", { from: "ben", commentId });
  expect(reply.events).toMatchObject([{ type: "comment", payload: { postId: "p_1" } }]);
});

test("a reply to one bot below another bot's post notifies both", async () => {
  const { platform, token } = await runTwo();
  const body = { text: "mine" };
  await request(platform, "POST", "/api/v1/posts/p_1/comments", { body, token });
  const { events } = act(platform, "reply", { to: "other", text: "hm" });
  expect(events.map(({ type }) => type)).toEqual(["reply", "comment"]);
  expect(types(platform, "other")).toEqual(["reply"]);
  expect(types(platform, "bot")).toEqual(["comment", "comment"]);
});

test("an event caused by a bot's post is in the timeline and in a delivery, with its author", async () => {
  const { platform, token } = await runTwo();
  await request(platform, "POST", "/api/v1/posts", { body: { text: "hi @bot" }, token });
  expect(await platform.waitFor("event")).toMatchObject({
    bot: "bot",
    type: "mention",
    from: "other",
    text: "hi @bot",
  });
  expect(await platform.waitFor("api")).toMatchObject({ bot: "other", path: "/posts" });
});
