import { notFound, PlatformError } from "../error.ts";
import { idOf, seqOf } from "../store/ids.ts";
import { type Act, excerpt, type Outcome } from "./outcome.ts";

/** A person sends the bot a direct message. */
export function sendMessage(act: Act): Outcome {
  const { store, person, input, at } = act;
  const { userId, username, name } = { ...person, userId: idOf("u", person.seq) };
  const text = input.text ?? "Hello!";
  const conversation = conversationOf(act);
  const message = store.conversations.addMessage(conversation, person.seq, text, at);
  const conversationId = idOf("c", conversation);
  const payload = { conversationId, from: { userId, username, name }, excerpt: excerpt(text) };
  const concerns = { conversationId, messageId: idOf("m", message.seq) };
  const made = { message: message.seq };
  return { event: { type: "dm.message", payload }, text, concerns, made };
}

/** The conversation of the person with the bot; a `conversationId` must name that one. */
function conversationOf({ store, person, bot, input: { conversationId } }: Act): number {
  if (store.blocks.between(person.seq, bot.seq)) {
    throw new PlatformError(403, "BLOCKED", "One of the two has blocked the other.");
  }
  if (conversationId === undefined) return store.conversations.between(person.seq, bot.seq);
  const seq = seqOf("c", conversationId);
  if (seq === undefined || store.conversations.peer(seq, bot.seq) !== person.seq) {
    throw notFound(`conversation of ${person.username} with the bot: ${conversationId}`);
  }
  return seq;
}
