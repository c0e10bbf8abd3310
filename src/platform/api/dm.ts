import { notFound, PlatformError } from "../error.ts";
import { page, window } from "../http/query.ts";
import { idOf, messageIds, seqOf } from "../store/ids.ts";
import type { Call, CallAnswer, Operation } from "./operation.ts";
import { isoTime } from "./views.ts";
import { readDraft, write } from "./writing.ts";

const MESSAGES = "/dm/conversations/:id/messages";

/** Direct messages: reply-only, 1:1 (section 4). */
export const dmOperations: readonly Operation[] = [
  { method: "GET", path: "/dm/conversations", scopes: ["dm"], handle: listConversations },
  { method: "GET", path: MESSAGES, scopes: ["dm"], handle: listMessages },
  { method: "POST", path: MESSAGES, scopes: ["dm"], handle: sendMessage },
];

function listConversations({ store, query, views, bot }: Call): CallAnswer {
  // The position is the latest message: a conversation that gains one moves to the front.
  const body = page(
    window(query, (cursor) => seqOf("m", cursor)),
    (rows) => store.conversations.summaries(bot.seq, rows),
    {
      item: (summary) => views.conversation(summary, bot),
      cursor: (summary) => idOf("m", summary.lastSeq),
    },
  );
  return { status: 200, body };
}

function listMessages(call: Call): CallAnswer {
  const { store, query, views, bot } = call;
  const conversation = botsConversation(call);
  const body = page(
    window(query, (cursor) => seqOf("m", cursor)),
    (rows) => store.conversations.page(conversation, rows),
    {
      item: (message) => views.message(message, bot),
      cursor: (message) => idOf("m", message.seq),
    },
  );
  return { status: 200, body };
}

function sendMessage(call: Call): CallAnswer {
  const { store, bot, now } = call;
  const conversation = botsConversation(call);
  checkPeer(call, conversation);
  const draft = readDraft(call);
  const { message } = write(call, draft, {
    quota: "dmsPerDay",
    make: () => ({
      message: store.conversations.addMessage(conversation, bot.seq, draft.text, now),
    }),
  });
  const created = messageIds(message);
  const { messageId: id, conversationId } = created;
  return { status: 201, body: { id, conversationId, createdAt: isoTime(now) }, created };
}

/** Conversations of others and such that do not exist are answered alike. */
function botsConversation({ store, bot, id }: Call): number {
  const seq = seqOf("c", id);
  if (seq === undefined || !store.conversations.hasMember(seq, bot.seq)) {
    throw notFound("conversation");
  }
  return seq;
}

/** @throws {PlatformError} 400 GROUP_UNSUPPORTED; 403 BLOCKED (section 7) */
function checkPeer({ store, bot }: Call, conversation: number): void {
  const peer = store.conversations.peer(conversation, bot.seq);
  if (peer === undefined) {
    throw new PlatformError(400, "GROUP_UNSUPPORTED", "Bots do not write to groups.");
  }
  if (store.blocks.between(bot.seq, peer)) {
    throw new PlatformError(403, "BLOCKED", "One of the two has blocked the other.");
  }
}
