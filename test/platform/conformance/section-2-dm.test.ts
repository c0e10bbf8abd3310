import { expect } from "vitest";
import { control, read } from "./http.ts";
import { rule } from "./rule.ts";
import { act, conversationWith, idsOf, messagesOf, newKeys, sendMessage } from "./setup.ts";
import { type Conversation, ISO_UTC, ISO_UTC_MS, type Message, type Page } from "./wire.ts";
import type { World } from "./world.ts";

/** Section 2, "Conversation", "Message" and "Sent-message result". */

async function newestConversation(world: World): Promise<Conversation> {
  const { items } = await read<Page<Conversation>>(world, "/dm/conversations");
  if (items[0] === undefined) throw new Error("there is no conversation");
  return items[0];
}

async function newestMessage(world: World, conversation: string): Promise<Message> {
  const { items } = await read<Page<Message>>(world, messagesOf(conversation));
  if (items[0] === undefined) throw new Error("there is no message");
  return items[0];
}

rule("2.conversation.id", async (world) => {
  const given = await conversationWith(world);
  const { id } = await newestConversation(world);
  expect(id).toBe(given);
  expect(await newestMessage(world, id)).toMatchObject({ conversationId: id, text: "hi" });
});

rule("2.conversation.peer.username", async (world) => {
  await conversationWith(world, "ben");
  expect((await newestConversation(world)).peer.username).toBe("ben");
});

rule("2.conversation.peer.name", async (world) => {
  await conversationWith(world, "ben");
  expect((await newestConversation(world)).peer.name).toBe("Ben");
});

rule("2.conversation.peer.avatarUrl", async (world) => {
  await conversationWith(world, "ada");
  const { avatarUrl } = (await newestConversation(world)).peer;
  expect(avatarUrl).toMatch(/^https?:/);
  expect((await world.fetch(avatarUrl ?? "")).headers.get("content-type")).toMatch(/^image\//);
  await conversationWith(world, "ben");
  expect((await newestConversation(world)).peer.avatarUrl).toBeNull();
});

rule("2.conversation.peer.isBot", async (world) => {
  await conversationWith(world, "ada");
  expect((await newestConversation(world)).peer.isBot).toBe(false);
  await control(world, "POST", "/apps", { username: "other" });
  await conversationWith(world, "other");
  const { peer } = await newestConversation(world);
  expect(peer).toMatchObject({ username: "other", isBot: true });
});

rule("2.conversation.lastMessageAt", async (world) => {
  const id = await conversationWith(world);
  const { lastMessageAt } = await newestConversation(world);
  expect(lastMessageAt).toMatch(ISO_UTC_MS);
  expect(Date.parse(lastMessageAt)).toBe(Date.parse((await newestMessage(world, id)).createdAt));
});

rule("2.conversation.lastMessage.text", async (world) => {
  await conversationWith(world, "ada", "the first");
  const id = await conversationWith(world, "ada", "the last");
  expect((await newestConversation(world)).lastMessage.text).toBe("the last");
  await sendMessage(world, id, { imageKeys: await newKeys(world, 1) });
  expect((await newestConversation(world)).lastMessage.text).toBe("");
});

rule("2.conversation.lastMessage.fromBot", async (world) => {
  const id = await conversationWith(world);
  expect((await newestConversation(world)).lastMessage.fromBot).toBe(false);
  await sendMessage(world, id, { text: "hello" });
  expect((await newestConversation(world)).lastMessage.fromBot).toBe(true);
});

rule("2.message.id", async (world) => {
  const conversation = await conversationWith(world);
  await conversationWith(world);
  const { items } = await read<Page<Message>>(world, messagesOf(conversation));
  expect(items.map(({ id }) => id)).toEqual([expect.any(String), expect.any(String)]);
  expect(new Set(items.map(({ id }) => id)).size).toBe(2);
});

rule("2.message.conversationId", async (world) => {
  const [ada, ben] = [await conversationWith(world), await conversationWith(world, "ben")];
  expect((await newestMessage(world, ada)).conversationId).toBe(ada);
  expect((await newestMessage(world, ben)).conversationId).toBe(ben);
});

rule("2.message.fromBot", async (world) => {
  const conversation = await conversationWith(world);
  expect((await newestMessage(world, conversation)).fromBot).toBe(false);
  await sendMessage(world, conversation, { text: "hello" });
  expect((await newestMessage(world, conversation)).fromBot).toBe(true);
});

rule("2.message.authorUsername", async (world) => {
  const conversation = await conversationWith(world);
  expect((await newestMessage(world, conversation)).authorUsername).toBe("ada");
  await sendMessage(world, conversation, { text: "hello" });
  expect((await newestMessage(world, conversation)).authorUsername).toBe("bot");
});

rule("2.message.text", async (world) => {
  const conversation = await conversationWith(world, "ada", "grüße\n🙂 <b>");
  expect((await newestMessage(world, conversation)).text).toBe("grüße\n🙂 <b>");
});

rule("2.message.text.deleted", async (world) => {
  const { conversationId = "", messageId } = await act(world, "dm.message", { text: "oops" });
  await control(world, "DELETE", `/messages/${messageId}`);
  expect(await newestMessage(world, conversationId)).toMatchObject({ id: messageId, text: "" });
});

rule("2.message.createdAt", async (world) => {
  expect((await newestMessage(world, await conversationWith(world))).createdAt).toMatch(ISO_UTC);
});

rule("2.message.replyToId", async (world) => {
  const conversation = await conversationWith(world);
  await sendMessage(world, conversation, { text: "yes?" });
  await act(world, "dm.message", { text: "never mind" });
  const { items } = await read<Page<Message>>(world, messagesOf(conversation));
  for (const { replyToId } of items) {
    if (replyToId !== null) expect(idsOf(items)).toContain(replyToId);
  }
});

rule("2.message.images", async (world) => {
  const conversation = await conversationWith(world);
  await sendMessage(world, conversation, { imageKeys: await newKeys(world, 2) });
  expect((await newestMessage(world, conversation)).images).toHaveLength(2);
});

rule("2.message.images.none", async (world) => {
  expect((await newestMessage(world, await conversationWith(world))).images).toEqual([]);
});

rule("2.sent.id", async (world) => {
  const conversation = await conversationWith(world);
  const { id } = await sendMessage(world, conversation, { text: "hello" });
  expect(id).toEqual(expect.any(String));
  expect((await newestMessage(world, conversation)).id).toBe(id);
});

rule("2.sent.conversationId", async (world) => {
  const conversation = await conversationWith(world);
  const sent = await sendMessage(world, conversation, { text: "hello" });
  expect(sent.conversationId).toBe(conversation);
});

rule("2.sent.createdAt", async (world) => {
  const conversation = await conversationWith(world);
  const { createdAt } = await sendMessage(world, conversation, { text: "hello" });
  expect(createdAt).toMatch(ISO_UTC);
  expect((await newestMessage(world, conversation)).createdAt).toBe(createdAt);
});
