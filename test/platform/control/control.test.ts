import { expect, test } from "vitest";
import type { ActResult } from "../../faces/platform.ts";
import { act, ids, request, runPlatform, withControlToken } from "../support/platform.ts";

test("the state shows the bot, the users, the webhook, the log and the timeline", async () => {
  const platform = await runPlatform();
  const webhook = {
    url: null,
    types: [],
    enabled: false,
    consecutiveFailures: 0,
    disabledReason: null,
    disableAfter: 20,
  };
  const start = {
    bot: { username: "bot", name: "Bot" },
    people: [
      { username: "ada", name: "Ada" },
      { username: "ben", name: "Ben" },
    ],
    webhook,
    lastEventId: null,
    timelineSeq: 0,
    reportingBots: [],
  };
  const { status, body } = await request(platform, "GET", "/control/v1/state");
  expect(status).toBe(200);
  expect(body).toEqual(start);
  const [id] = ids(act(platform, "follow"));
  const later = await request(platform, "GET", "/control/v1/state");
  expect(later.body).toEqual({ ...start, lastEventId: id, timelineSeq: 1 });
});

test("an action gets 201, its events and their content", async () => {
  const platform = await runPlatform();
  const body = { type: "dm.message", from: "ada", text: "hi", count: 2 };
  const answer = await request<ActResult>(platform, "POST", "/control/v1/act", { body });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    events: platform.control.events(),
    conversationId: "c_2",
    messageId: "m_3",
  });
  expect(answer.body.events).toHaveLength(2);
});

test("messages and comments are shown in full, oldest first", async () => {
  const platform = await runPlatform();
  const { conversationId } = act(platform, "dm.message", { count: 60 });
  act(platform, "comment", { count: 60 });
  const get = async (path: string) => {
    const response = await fetch(`${platform.url}/control/v1${path}`, {
      headers: withControlToken(platform),
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as { items: { id: string }[] }).items.map(({ id }) => id);
  };
  const messages = await get(`/conversations/${conversationId}/messages`);
  expect(messages).toEqual(Array.from({ length: 60 }, (_, n) => `m_${n + 2}`));
  const comments = await get("/posts/p_1/comments");
  expect(comments).toEqual(Array.from({ length: 60 }, (_, n) => `cm_${n + 1}`));
});

test("the log is shown in full, or starting after an event", async () => {
  const platform = await runPlatform();
  const all = ids(act(platform, "dm.message", { count: 120 }));
  const get = async (query: string) => {
    const { body } = await request<ActResult>(platform, "GET", `/control/v1/events${query}`);
    return body.events.map(({ id }) => id);
  };
  expect(await get("")).toEqual(all);
  expect(await get(`?since=${all[99]}`)).toEqual(all.slice(100));
  expect(await get(`?since=${all[9]}&limit=5`)).toEqual(all.slice(10, 15));
});

test("a token is created with the requested scopes", async () => {
  const platform = await runPlatform();
  const made = await request<{ apiKey: string }>(platform, "POST", "/control/v1/tokens", {
    body: { scopes: ["read", "read"] },
  });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    apiKey: expect.stringMatching(/^sbk_[0-9a-f]{48}$/),
    scopes: ["read"],
  });
  const token = made.body.apiKey;
  expect((await request(platform, "GET", "/api/v1/me", { token })).status).toBe(200);
  expect((await request(platform, "GET", "/api/v1/dm/conversations", { token })).status).toBe(403);
});

test("a deleted message keeps its position, without its text and its images", async () => {
  const platform = await runPlatform();
  const first = act(platform, "dm.message", { text: "secret", images: 2 });
  const { conversationId = "", messageId = "" } = first;
  const path = `/api/v1/dm/conversations/${conversationId}/messages`;
  type Messages = { items: { id: string; text: string; images: { url: string }[] }[] };
  const read = async () => (await request<Messages>(platform, "GET", path)).body.items;
  const [before] = await read();
  expect(before?.images).toHaveLength(2);
  const deleted = await request(platform, "DELETE", `/control/v1/messages/${messageId}`);
  expect(deleted.status).toBe(200);
  expect(deleted.body).toMatchObject({ id: messageId, text: "", images: [] });
  expect(await read()).toEqual([{ ...before, text: "", images: [] }]);
  const list = await request(platform, "GET", "/api/v1/dm/conversations");
  expect(list.body).toMatchObject({ items: [{ id: conversationId, lastMessage: { text: "" } }] });
  expect((await fetch(before?.images[0]?.url ?? "")).status).toBe(404);
  expect(platform.control.events()).toEqual(first.events);
  const again = await request(platform, "DELETE", `/control/v1/messages/${messageId}`);
  expect(again.status).toBe(200);
  const unknown = await request(platform, "DELETE", "/control/v1/messages/m_99");
  expect(unknown.status).toBe(404);
});

test("users are created, and listed in order of creation", async () => {
  const platform = await runPlatform();
  const post = (body: unknown) => request(platform, "POST", "/control/v1/people", { body });
  const made = await post({ username: "cleo", name: "Cleo P." });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({ username: "cleo", name: "Cleo P." });
  act(platform, "follow", { from: "dan" });
  const { body } = await request(platform, "GET", "/control/v1/people");
  expect(body).toEqual({
    items: [
      { username: "ada", name: "Ada" },
      { username: "ben", name: "Ben" },
      { username: "cleo", name: "Cleo P." },
      { username: "dan", name: "Dan" },
    ],
  });
});
