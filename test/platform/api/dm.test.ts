import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { act, ids, request, runPlatform } from "../support/platform.ts";

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

interface Message {
  readonly id: string;
  readonly text: string;
  readonly fromBot: boolean;
}

async function get<Item>(platform: Platform, path: string): Promise<Page<Item>> {
  const { status, body } = await request<Page<Item>>(platform, "GET", `/api/v1${path}`);
  expect(status).toBe(200);
  return body;
}

function send(platform: Platform, conversationId: string, body: unknown) {
  const path = `/api/v1/dm/conversations/${conversationId}/messages`;
  return request(platform, "POST", path, { body });
}

function conversation(platform: Platform, text = "hi"): string {
  return act(platform, "dm.message", { text }).conversationId ?? "";
}

test("a conversation shows its peer and its last message", async () => {
  const platform = await runPlatform();
  const id = conversation(platform, "are you there?");
  const { items, nextCursor } = await get(platform, "/dm/conversations");
  expect(nextCursor).toBeNull();
  expect(items).toEqual([
    {
      id,
      peer: {
        ...{ username: "ada", name: "Ada", isBot: false },
        avatarUrl: `${platform.url}/media/avatar.webp`,
      },
      lastMessageAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      lastMessage: { text: "are you there?", fromBot: false },
    },
  ]);
});

test("the conversation with the latest message comes first", async () => {
  const platform = await runPlatform();
  const ada = conversation(platform);
  const ben = act(platform, "dm.message", { from: "ben" }).conversationId;
  const order = async () =>
    (await get<{ id: string }>(platform, "/dm/conversations")).items.map(({ id }) => id);
  expect(await order()).toEqual([ben, ada]);
  await send(platform, ada, { text: "hello" });
  expect(await order()).toEqual([ada, ben]);
});

test("conversations are paged by cursor", async () => {
  const platform = await runPlatform();
  const all = Array.from({ length: 5 }, (_, n) => {
    return act(platform, "dm.message", { from: `p${n}` }).conversationId;
  }).reverse();
  const first = await get<{ id: string }>(platform, "/dm/conversations?limit=3");
  expect(first.items.map(({ id }) => id)).toEqual(all.slice(0, 3));
  const rest = await get<{ id: string }>(
    platform,
    `/dm/conversations?limit=3&cursor=${first.nextCursor}`,
  );
  expect(rest.items.map(({ id }) => id)).toEqual(all.slice(3));
  expect(rest.nextCursor).toBeNull();
});

test("messages are newest first, and mark the bot's own", async () => {
  const platform = await runPlatform();
  const id = conversation(platform, "hi");
  await send(platform, id, { text: "hello" });
  const { items } = await get<Message>(platform, `/dm/conversations/${id}/messages`);
  expect(items).toEqual([
    {
      id: "m_3",
      conversationId: id,
      fromBot: true,
      authorUsername: "bot",
      text: "hello",
      createdAt: expect.stringMatching(/Z$/),
      replyToId: null,
      images: [],
    },
    expect.objectContaining({ fromBot: false, authorUsername: "ada", text: "hi" }),
  ]);
});

test("messages are paged by cursor, and none is lost between pages", async () => {
  const platform = await runPlatform();
  const id = act(platform, "dm.message", { count: 4 }).conversationId;
  const pages: string[][] = [];
  let query = "?limit=2";
  for (let cursor: string | null = ""; cursor !== null; query = `?limit=2&cursor=${cursor}`) {
    const page: Page<Message> = await get(platform, `/dm/conversations/${id}/messages${query}`);
    pages.push(page.items.map((message) => message.id));
    cursor = page.nextCursor;
  }
  expect(pages).toEqual([
    ["m_5", "m_4"],
    ["m_3", "m_2"],
  ]);
});

test.each(["limit=0", "limit=51", "cursor=", "cursor=x", "cursor=cm_1"])(
  "messages with %s get 400 VALIDATION",
  async (query) => {
    const platform = await runPlatform();
    const id = conversation(platform);
    const path = `/api/v1/dm/conversations/${id}/messages?${query}`;
    const { status, body } = await request(platform, "GET", path);
    expect(status).toBe(400);
    expect(body.error.code).toBe("VALIDATION");
  },
);

test("sending returns 201, the id, the conversation and the time", async () => {
  const platform = await runPlatform();
  const id = conversation(platform);
  const { status, body } = await send(platform, id, { text: "hello" });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: "m_3",
    conversationId: id,
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
  });
  expect(platform.control.messages(id).map(({ text }) => text)).toEqual(["hi", "hello"]);
});

test("a message by the bot makes no event", async () => {
  const platform = await runPlatform();
  const asked = act(platform, "dm.message");
  await send(platform, asked.conversationId ?? "", { text: "hello" });
  await request(platform, "POST", "/api/v1/posts", { body: { text: "@bot" } });
  await request(platform, "POST", "/api/v1/posts/p_1/comments", { body: { text: "@bot" } });
  expect(platform.control.events().map(({ id }) => id)).toEqual(ids(asked));
});

const somebodyElses = "c_1";

test("a conversation between two other users gets the same response as a missing one", async () => {
  const platform = await runPlatform();
  expect(platform.control.messages(somebodyElses)).toHaveLength(1);
  const answers = await Promise.all(
    [somebodyElses, "c_999", "nonsense"].flatMap((id) => [
      request(platform, "GET", `/api/v1/dm/conversations/${id}/messages`),
      send(platform, id, { text: "hello" }),
    ]),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(answers[0]?.body.error.code).toBe("NOT_FOUND");
  expect(platform.control.messages(somebodyElses)).toHaveLength(1);
});

test("no endpoint starts a conversation", async () => {
  const platform = await runPlatform();
  const { status } = await request(platform, "POST", "/api/v1/dm/conversations", {
    body: { username: "ada", text: "hello" },
  });
  expect(status).toBe(405);
});

test.each([
  [{ text: "  \n" }, "EMPTY"],
  [{ text: "x".repeat(4001) }, "TOO_LONG"],
  [{ text: 5 }, "VALIDATION"],
  [{ text: "hi", imageKeys: "a" }, "VALIDATION"],
  [[], "VALIDATION"],
  [undefined, "VALIDATION"],
])("the message %j is rejected", async (body, code) => {
  const platform = await runPlatform();
  const id = conversation(platform);
  const answer = await send(platform, id, body);
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe(code);
  expect(platform.control.messages(id)).toHaveLength(1);
});

test("4000 characters are sent unchanged, regardless of their length in UTF-16", async () => {
  const platform = await runPlatform();
  const id = conversation(platform);
  const text = "🙂".repeat(4000);
  expect((await send(platform, id, { text })).status).toBe(201);
  expect(platform.control.messages(id).at(-1)?.text).toBe(text);
});
