import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apiKey, clientOver, failingClient, json, messagesOf, rejection, serve } from "./api.ts";

const page = { items: [], nextCursor: null };
const sent = { id: "m_1", conversationId: "c_1", createdAt: "2026-01-02T03:04:05.678Z" };

describe("each method is one request of section 4", () => {
  test("events", async () => {
    const { client, calls } = await serve(json(200, { events: [], cursor: "5" }));
    await client.events({ since: "5", limit: 50 });
    expect(calls).toMatchObject([{ method: "GET", url: "/api/v1/events?since=5&limit=50" }]);
  });

  test("events: an empty since is sent, for it asks for the present; an absent one is not", async () => {
    const { client, calls } = await serve(json(200, { events: [], cursor: "5" }));
    await client.events({ since: "" });
    await client.events({ since: undefined });
    expect(calls.map(({ url }) => url)).toEqual(["/api/v1/events?since=", "/api/v1/events"]);
  });

  test("dms.messages", async () => {
    const { client, calls } = await serve(json(200, page));
    await client.dms.messages("c_1", { limit: 7, cursor: "next" });
    await client.dms.messages("c_1");
    expect(calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "GET /api/v1/dm/conversations/c_1/messages?limit=7&cursor=next",
      "GET /api/v1/dm/conversations/c_1/messages",
    ]);
  });

  test("dms.send", async () => {
    const { client, calls } = await serve(json(201, sent));
    const outgoing = { text: "grüße 👋", imageKeys: ["k_1"] };
    expect(await client.dms.send("c_1", outgoing)).toEqual(sent);
    expect(calls).toMatchObject([{ method: "POST", url: "/api/v1/dm/conversations/c_1/messages" }]);
    expect(JSON.parse(calls[0]?.body ?? "")).toEqual(outgoing);
  });

  test("posts.comment", async () => {
    const { client, calls } = await serve(json(201, { id: "k_1" }));
    expect(await client.posts.comment("p_1", { text: "nice" })).toEqual({ id: "k_1" });
    expect(calls).toMatchObject([{ method: "POST", url: "/api/v1/posts/p_1/comments" }]);
    expect(JSON.parse(calls[0]?.body ?? "")).toEqual({ text: "nice" });
  });

  test("any id stays inside its segment of the path", async () => {
    const { client, calls } = await serve(json(200, page));
    const id = fc
      .string({ minLength: 1, unit: "grapheme" })
      .filter((text) => !/^\.\.?$/.test(text));
    await fc.assert(
      fc.asyncProperty(id, async (conversationId) => {
        await client.dms.messages(conversationId);
        const { pathname } = new URL(calls.at(-1)?.url ?? "", "http://platform.test");
        const [, part] = /^\/api\/v1\/dm\/conversations\/([^/]*)\/messages$/.exec(pathname) ?? [];
        expect(decodeURIComponent(part ?? "")).toBe(conversationId);
      }),
    );
  });
});

describe("headers", () => {
  test("every request bears the token", async () => {
    const { client, calls } = await serve(json(201, sent));
    await client.dms.send("c_1", { text: "hi" });
    await client.me();
    for (const { headers } of calls) expect(headers.authorization).toBe(`Bearer ${apiKey}`);
  });

  test("only a request with a body has a content type", async () => {
    const { client, calls } = await serve(json(201, sent));
    await client.dms.send("c_1", { text: "hi" });
    await client.me();
    expect(calls.map(({ headers }) => headers["content-type"])).toEqual([
      "application/json",
      undefined,
    ]);
  });
});

describe("the channel of requests", () => {
  test.each([200, 500])("has each answer, good or bad: %i", async (status) => {
    const { client } = await serve(json(status, {}));
    const seen = messagesOf(client, "request");
    await client.me().catch(() => undefined);
    expect(seen).toMatchObject([{ method: "GET", path: "/me", status }]);
  });

  test("has a request without an answer, and never the token", async () => {
    const client = failingClient(new TypeError("fetch failed"));
    const seen = messagesOf(client, "request");
    await rejection(client.me());
    expect(seen).toMatchObject([{ method: "GET", path: "/me", status: undefined }]);
    expect(JSON.stringify(seen)).not.toContain(apiKey);
  });
});

test.each(["", ".", "..", "\ud800"])("an id %j is refused before anything is sent", async (id) => {
  const sent: string[] = [];
  const client = clientOver(async (url) => {
    sent.push(url);
    return Response.json({ items: [], nextCursor: null });
  });
  const refused = { code: "INVALID_ID" };
  for (const listing of [client.dms.messages(id), client.posts.comments(id)]) {
    await expect(listing).rejects.toMatchObject(refused);
    await expect(listing.pages().next()).rejects.toMatchObject(refused);
    await expect(listing[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
  }
  await expect(client.dms.send(id, { text: "hi" })).rejects.toMatchObject(refused);
  await expect(client.posts.get(id)).rejects.toMatchObject(refused);
  await expect(client.posts.comment(id, { text: "hi" })).rejects.toMatchObject(refused);
  await expect(client.users.get(id)).rejects.toMatchObject(refused);
  expect(sent).toEqual([]);
  await client.dms.messages("...");
  expect(sent).toHaveLength(1);
});

test("the channels have the code of an error, and of each request that was not sent", async () => {
  const client = failingClient(new TypeError("fetch failed"));
  const seen = messagesOf(client, "request");
  const heldBack = messagesOf(client, "held-back");
  for (let n = 0; n < 7; n++) await rejection(client.me());
  expect(seen.map(({ code }) => code)).toEqual(Array(5).fill("API_UNREACHABLE"));
  expect(heldBack.map(({ code }) => code)).toEqual(["API_CIRCUIT_OPEN", "API_CIRCUIT_OPEN"]);
});
