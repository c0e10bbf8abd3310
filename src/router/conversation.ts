import { LIMIT } from "../client/arguments.ts";
import type { Client } from "../client/client.ts";
import { type ReadPage, readPages } from "../client/listing.ts";
import type { Conversation, Message } from "../client/resources.ts";
import { type OptionTable, readOptions } from "../core/option-checks.ts";
import { ServiceBotError } from "../errors.ts";
import { conversationOf } from "../events/lane.ts";
import type { AnyEvent } from "../events/types.ts";

/** Options for `ctx.messages`. */
interface MessagesOptions {
  readonly limit?: number;
}

const MESSAGES_OPTIONS: OptionTable<MessagesOptions> = { limit: LIMIT };

/** @throws {ServiceBotError} INVALID_OPTION; REPLY_IMPOSSIBLE if the event does not belong to a conversation */
export async function latestMessages(
  client: Client,
  event: AnyEvent,
  signal: AbortSignal,
  options: MessagesOptions = {},
): Promise<readonly Message[]> {
  const { limit = 50 } = readOptions(options, MESSAGES_OPTIONS);
  const conversationId = conversationOf(event);
  if (conversationId === undefined) {
    throw new ServiceBotError(
      "REPLY_IMPOSSIBLE",
      `A ${event.type} event does not belong to a conversation.`,
    );
  }
  return (await client.dms.messages(conversationId, { limit, signal })).items;
}

/** Pages of 50 conversations, newest first. The conversation of a new message is on the first page. */
const MAX_PEER_PAGES = 5;

/** Resolves to `undefined` if the event has no conversation, or if the conversation is not on the first pages. */
export async function findPeer(
  client: Client,
  event: AnyEvent,
  signal: AbortSignal,
): Promise<Conversation["peer"] | undefined> {
  const conversationId = conversationOf(event);
  if (conversationId === undefined) return undefined;
  const read: ReadPage<Conversation> = (cursor) =>
    client.dms.conversations({ limit: 50, cursor, signal });
  for await (const { items } of readPages(read, MAX_PEER_PAGES)) {
    const found = items.find(({ id }) => id === conversationId);
    if (found !== undefined) return found.peer;
  }
  return undefined;
}
