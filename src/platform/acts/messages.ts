import { invalid, notFound, PlatformError } from "../error.ts";
import { messageIds, seqOf } from "../store/ids.ts";
import { type Act, type Outcome, recipientOf } from "./act.ts";

/** Somebody sends a bot a direct message. */
export function sendMessage(act: Act): Outcome {
  const { store, write, from, input, at } = act;
  const text = input.text ?? "Hello!";
  const conversation = conversationOf(act);
  const message = store.conversations.addMessage(conversation, from.seq, text, at);
  write.content({ message }, act);
  return { concerns: messageIds(message), made: { message: message.seq } };
}

/** The one conversation of the sender with the bot; a `conversationId` must name that one. */
function conversationOf(act: Act): number {
  const { store, from, input } = act;
  const { people, blocks, conversations } = store;
  const named = input.conversationId === undefined ? undefined : namedConversation(act);
  const bot = named === undefined ? recipientOf(act) : people.get(named.peer);
  if (blocks.between(from.seq, bot.seq)) {
    throw new PlatformError(403, "BLOCKED", "One of the two has blocked the other.");
  }
  return named?.seq ?? conversations.between(from.seq, bot.seq);
}

function namedConversation({ store, from, to, input: { conversationId = "" } }: Act): {
  readonly seq: number;
  readonly peer: number;
} {
  const seq = seqOf("c", conversationId);
  const peer = seq === undefined ? undefined : store.conversations.peer(seq, from.seq);
  if (seq === undefined || peer === undefined || !store.people.get(peer).isBot) {
    throw notFound(`conversation of ${from.username} with a bot: ${conversationId}`);
  }
  if (to === undefined || to.seq === peer) return { seq, peer };
  const other = store.people.get(peer).username;
  throw invalid(`${conversationId} is with ${other}, not with ${to.username}`);
}
