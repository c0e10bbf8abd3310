import { notFound } from "../error.ts";
import { page, window } from "../http/query.ts";
import { idOf, seqOf } from "../store/ids.ts";
import { readText } from "./draft.ts";
import type { Call, CallAnswer, Route } from "./route.ts";
import { conversationView, isoTime, messageView } from "./views.ts";

const MESSAGES = "/dm/conversations/:id/messages";

/** Direct messages: reply-only, 1:1 (section 4). */
export const dmRoutes: readonly Route[] = [
  { method: "get", path: "/dm/conversations", scopes: ["dm"], handle: listConversations },
  { method: "get", path: MESSAGES, scopes: ["dm"], handle: listMessages },
  { method: "post", path: MESSAGES, scopes: ["dm"], handle: sendMessage },
];

function listConversations({ store, query }: Call): CallAnswer {
  const bot = store.people.bot();
  // The position is the latest message: a conversation that gains one moves to the front.
  const body = page(
    window(query, (cursor) => seqOf("m", cursor)),
    (rows) => store.conversations.summaries(bot.seq, rows),
    {
      item: (summary) => conversationView(summary, bot),
      cursor: (summary) => idOf("m", summary.lastSeq),
    },
  );
  return { status: 200, body };
}

function listMessages(call: Call): CallAnswer {
  const { store, query } = call;
  const bot = store.people.bot();
  const conversation = botsConversation(call);
  const body = page(
    window(query, (cursor) => seqOf("m", cursor)),
    (rows) => store.conversations.page(conversation, rows),
    {
      item: (message) => messageView(message, bot),
      cursor: (message) => idOf("m", message.seq),
    },
  );
  return { status: 200, body };
}

function sendMessage(call: Call): CallAnswer {
  const { store, body, now } = call;
  const conversation = botsConversation(call);
  const text = readText(body);
  const { seq } = store.transaction(() =>
    store.conversations.addMessage(conversation, store.people.bot().seq, text, now),
  );
  const id = idOf("m", seq);
  const conversationId = idOf("c", conversation);
  return {
    status: 201,
    body: { id, conversationId, createdAt: isoTime(now) },
    created: { conversationId, messageId: id },
  };
}

/** Conversations of others and such that do not exist are answered alike. */
function botsConversation({ store, id }: Call): number {
  const seq = seqOf("c", id);
  if (seq === undefined || !store.conversations.hasMember(seq, store.people.bot().seq)) {
    throw notFound("conversation");
  }
  return seq;
}
