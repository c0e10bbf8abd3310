import { expect } from "vitest";
import { call, control, expectRefusal, get, post, read } from "./http.ts";
import { rule } from "./rule.ts";
import {
  act,
  conversationOfOthers,
  conversationWith,
  groupWithBot,
  idsOf,
  messagesOf,
  newKeys,
  sendMessage,
  tokenWith,
} from "./setup.ts";
import type { Conversation, Message, Page, Sent } from "./wire.ts";
import { everyScope, type World } from "./world.ts";

/** Section 4, the endpoints for direct messages. */

const LIST = "/dm/conversations";

async function pages(world: World, path: string, limit: number): Promise<string[][]> {
  const found: string[][] = [];
  let query = `?limit=${limit}`;
  for (;;) {
    const page = await read<Page<{ id: string }>>(world, `${path}${query}`);
    found.push(idsOf(page.items));
    if (page.nextCursor === null) return found;
    query = `?limit=${limit}&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}

async function conversations(world: World, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let nth = 1; nth <= count; nth += 1)
    made.push(await conversationWith(world, `person${nth}`));
  return made.reverse();
}

async function messages(world: World, count: number): Promise<{ path: string; ids: string[] }> {
  const conversation = await conversationWith(world);
  const ids: string[] = [];
  for (let nth = 1; nth <= count; nth += 1) {
    const { messageId = "" } = await act(world, "dm.message", { text: `number ${nth}` });
    ids.push(messageId);
  }
  const { items } = await read<Page<Message>>(world, `${messagesOf(conversation)}?limit=50`);
  return { path: messagesOf(conversation), ids: [...ids.reverse(), ...idsOf(items).slice(-1)] };
}

async function expectNeedsDm(world: World, method: string, path: string): Promise<void> {
  const sending = method === "POST" ? { body: { text: "hi" } } : {};
  const others = everyScope.filter((scope) => scope !== "dm");
  const without = await tokenWith(world, ...others);
  const refused = await call(world, method, path, { ...sending, token: without });
  expectRefusal(refused, 403, "AGENT_SCOPE_MISSING");
  const token = await tokenWith(world, "dm");
  const { status } = await call(world, method, path, { ...sending, token });
  expect(status).toBe(method === "POST" ? 201 : 200);
}

rule("4.conversations.scope", async (world) => {
  await conversationWith(world);
  await expectNeedsDm(world, "GET", LIST);
});

rule("4.conversations.limit", async (world) => {
  await conversations(world, 3);
  for (const limit of [1, 2, 3]) {
    const { items } = await read<Page<Conversation>>(world, `${LIST}?limit=${limit}`);
    expect(items).toHaveLength(limit);
  }
});

rule("4.conversations.cursor", async (world) => {
  // Several messages in a conversation, so that messages and conversations have different numbers.
  await act(world, "dm.message", { from: "person1", count: 3 });
  const made = await conversations(world, 5);
  const found = await pages(world, LIST, 2);
  expect(found.map((page) => page.length)).toEqual([2, 2, 1]);
  expect(found.flat()).toEqual(made);
});

rule("4.conversations.shape", async (world) => {
  await conversations(world, 2);
  const page = await read<Page<Conversation>>(world, `${LIST}?limit=1`);
  expect(page).toMatchObject({ items: [expect.any(Object)], nextCursor: expect.any(String) });
});

rule("4.conversations.last", async (world) => {
  expect(await read(world, LIST)).toMatchObject({ items: [], nextCursor: null });
  await conversations(world, 2);
  expect(await read(world, `${LIST}?limit=2`)).toMatchObject({ nextCursor: null });
});

rule("4.conversations.1-to-1", async (world) => {
  const conversation = await conversationWith(world);
  await groupWithBot(world);
  await conversationOfOthers(world);
  const { items } = await read<Page<Conversation>>(world, LIST);
  expect(idsOf(items)).toEqual([conversation]);
});

rule("4.conversations.received", async (world) => {
  expect((await read<Page<Conversation>>(world, LIST)).items).toEqual([]);
  const conversation = await conversationWith(world, "ben");
  expect(idsOf((await read<Page<Conversation>>(world, LIST)).items)).toEqual([conversation]);
});

rule("4.conversations.order", async (world) => {
  const [newest = "", oldest = ""] = await conversations(world, 2);
  const order = async () => idsOf((await read<Page<Conversation>>(world, LIST)).items);
  expect(await order()).toEqual([newest, oldest]);
  await sendMessage(world, oldest, { text: "hello again" });
  expect(await order()).toEqual([oldest, newest]);
});

rule("4.messages.scope", async (world) => {
  await expectNeedsDm(world, "GET", messagesOf(await conversationWith(world)));
});

rule("4.messages.limit", async (world) => {
  const { path } = await messages(world, 3);
  for (const limit of [1, 2, 3]) {
    const { items } = await read<Page<Message>>(world, `${path}?limit=${limit}`);
    expect(items).toHaveLength(limit);
  }
});

rule("4.messages.cursor", async (world) => {
  const { path, ids } = await messages(world, 4);
  const found = await pages(world, path, 2);
  expect(found.map((page) => page.length)).toEqual([2, 2, 1]);
  expect(found.flat()).toEqual(ids);
});

rule("4.messages.shape", async (world) => {
  const { path } = await messages(world, 2);
  const page = await read<Page<Message>>(world, `${path}?limit=1`);
  expect(page).toMatchObject({ items: [expect.any(Object)], nextCursor: expect.any(String) });
});

rule("4.messages.last", async (world) => {
  const { path } = await messages(world, 1);
  expect(await read(world, `${path}?limit=2`)).toMatchObject({ nextCursor: null });
});

rule("4.messages.order", async (world) => {
  const conversation = await conversationWith(world, "ada", "first");
  await sendMessage(world, conversation, { text: "second" });
  await act(world, "dm.message", { text: "third" });
  const { items } = await read<Page<Message>>(world, messagesOf(conversation));
  expect(items.map(({ text }) => text)).toEqual(["third", "second", "first"]);
});

rule("4.messages.hidden", async (world) => {
  const others = await conversationOfOthers(world);
  const hidden = await get(world, messagesOf(others));
  const nothing = await get(world, messagesOf("c_999999"));
  expectRefusal(hidden, 404, "NOT_FOUND");
  expect(hidden.body).toEqual(nothing.body);
  expect(hidden.status).toBe(nothing.status);
});

rule("4.send.scope", async (world) => {
  await expectNeedsDm(world, "POST", messagesOf(await conversationWith(world)));
});

rule("4.send.text", async (world) => {
  const path = messagesOf(await conversationWith(world));
  expect((await post(world, path, { text: "hello" })).status).toBe(201);
  const { items } = await read<Page<Message>>(world, path);
  expect(items[0]).toMatchObject({ text: "hello", images: [] });
});

rule("4.send.images", async (world) => {
  const path = messagesOf(await conversationWith(world));
  expect((await post(world, path, { imageKeys: await newKeys(world, 4) })).status).toBe(201);
  const { items } = await read<Page<Message>>(world, path);
  expect(items[0]?.images).toHaveLength(4);
});

rule("4.send.participant", async (world) => {
  const others = await conversationOfOthers(world);
  const before = await control(world, "GET", `/conversations/${others}/messages`);
  expectRefusal(await post(world, messagesOf(others), { text: "hi" }), 404, "NOT_FOUND");
  expect(await control(world, "GET", `/conversations/${others}/messages`)).toEqual(before);
});

rule("4.send.created", async (world) => {
  const conversation = await conversationWith(world);
  const { status, body } = await post<Sent>(world, messagesOf(conversation), { text: "hello" });
  expect(status).toBe(201);
  expect(body).toMatchObject({ id: expect.any(String), createdAt: expect.any(String) });
});

// The recipient's notification (websocket, push, e-mail) cannot be observed from outside.
rule("4.send.recipient", async (world) => {
  const conversation = await conversationWith(world, "ada", "hi");
  await sendMessage(world, conversation, { text: "hello ada" });
  const { items } = await control<{ items: readonly Message[] }>(
    world,
    "GET",
    `/conversations/${conversation}/messages`,
  );
  expect(items.map(({ text }) => text)).toEqual(["hi", "hello ada"]);
});

rule("4.send.no-start", async (world) => {
  for (const path of [LIST, "/dm", "/dm/messages", "/users/ada/messages"]) {
    const body = { username: "ada", participants: ["ada"], text: "hello" };
    expect([404, 405]).toContain((await post(world, path, body)).status);
  }
  expect((await read<Page<Conversation>>(world, LIST)).items).toEqual([]);
});
