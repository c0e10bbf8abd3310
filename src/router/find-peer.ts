import type { Client } from "../client/client.ts";
import type { Conversation } from "../client/types.ts";
import { idText } from "../events/id.ts";
import type { AnyEvent } from "../events/types.ts";

/** Pages of 50 conversations, newest first. The conversation of a new message is on the first one. */
const MAX_PAGES = 5;

/** Looks up the other side of the event's conversation in `GET /dm/conversations` (section 2). */
export async function findPeer(
  client: Client,
  event: AnyEvent,
  signal: AbortSignal,
): Promise<Conversation["peer"] | undefined> {
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const conversationId = idText(payload.conversationId);
  if (conversationId === undefined) return undefined;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, nextCursor } = await client.dms.conversations({ limit: 50, cursor, signal });
    const found = items.find(({ id }) => id === conversationId);
    if (found !== undefined || nextCursor === null) return found?.peer;
    cursor = nextCursor;
  }
  return undefined;
}
