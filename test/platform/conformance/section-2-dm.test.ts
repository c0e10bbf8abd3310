import { expect } from "vitest";
import { control, read } from "./http.ts";
import { rule, rulesOf } from "./rule.ts";
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

/** A user's first message, and its conversation as the bot lists it. */
async function firstMessage(world: World) {
  const given = await conversationWith(world, "ben");
  return {
    given,
    conversation: await newestConversation(world),
    message: await newestMessage(world, given),
  };
}

rulesOf(firstMessage, {
  "2.conversation.id": ({ given, conversation, message }) => {
    expect(conversation.id).toBe(given);
    expect(message).toMatchObject({ conversationId: given, text: "hi" });
  },
  "2.conversation.peer.username": ({ conversation }) =>
    expect(conversation.peer.username).toBe("ben"),
  "2.conversation.peer.name": ({ conversation }) => expect(conversation.peer.name).toBe("Ben"),
  "2.conversation.lastMessageAt": ({ conversation: { lastMessageAt }, message }) => {
    expect(lastMessageAt).toMatch(ISO_UTC_MS);
    expect(Date.parse(lastMessageAt)).toBe(Date.parse(message.createdAt));
  },
  "2.message.createdAt": ({ message }) => expect(message.createdAt).toMatch(ISO_UTC),
  "2.message.images.none": ({ message }) => expect(message.images).toEqual([]),
});

/** The bot's reply: what sending it returned, and the newest message before and after it. */
async function reply(world: World) {
  const id = await conversationWith(world);
  const newest = async () => ({
    message: await newestMessage(world, id),
    last: (await newestConversation(world)).lastMessage,
  });
  const before = await newest();
  const sent = await sendMessage(world, id, { text: "hello" });
  return { id, before, sent, after: await newest() };
}

rulesOf(reply, {
  "2.conversation.lastMessage.fromBot": ({ before, after }) =>
    expect([before.last.fromBot, after.last.fromBot]).toEqual([false, true]),
  "2.message.fromBot": ({ before, after }) =>
    expect([before.message.fromBot, after.message.fromBot]).toEqual([false, true]),
  "2.message.authorUsername": ({ before, after }) => {
    expect(before.message.authorUsername).toBe("ada");
    expect(after.message.authorUsername).toBe("bot");
  },
  "2.sent.id": ({ sent, after }) => {
    expect(sent.id).toEqual(expect.any(String));
    expect(after.message.id).toBe(sent.id);
  },
  "2.sent.conversationId": ({ sent, id }) => expect(sent.conversationId).toBe(id),
  "2.sent.createdAt": ({ sent, after }) => {
    expect(sent.createdAt).toMatch(ISO_UTC);
    expect(after.message.createdAt).toBe(sent.createdAt);
  },
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

rule("2.conversation.lastMessage.text", async (world) => {
  await conversationWith(world, "ada", "the first");
  const id = await conversationWith(world, "ada", "the last");
  expect((await newestConversation(world)).lastMessage.text).toBe("the last");
  await sendMessage(world, id, { imageKeys: await newKeys(world, 1) });
  expect((await newestConversation(world)).lastMessage.text).toBe("");
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

rule("2.message.text", async (world) => {
  const conversation = await conversationWith(world, "ada", "grüße\n🙂 <b>");
  expect((await newestMessage(world, conversation)).text).toBe("grüße\n🙂 <b>");
});

rule("2.message.text.deleted", async (world) => {
  const { conversationId = "", messageId } = await act(world, "dm.message", { text: "oops" });
  await control(world, "DELETE", `/messages/${messageId}`);
  expect(await newestMessage(world, conversationId)).toMatchObject({ id: messageId, text: "" });
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
