import { readDatabase } from "../../src/core/database-address.ts";
import { orderKey } from "../../src/events/id.ts";
import type { Inbox, NewEvent } from "../../src/inbox/inbox.ts";
import { PostgresInbox } from "../../src/inbox/postgres/postgres-inbox.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import type { QueueEvent } from "./message.ts";
import { messageEvent } from "./message.ts";
import type { QueueOptions } from "./queue.ts";

const MAX_BACKLOG = 10_000_000;

/** @param onStatement called for each round trip to PostgreSQL */
export async function openInbox(
  { url, schema }: QueueOptions,
  onStatement: () => void = () => undefined,
): Promise<Inbox> {
  const database = readDatabase(url);
  if (database.kind === "sqlite") {
    return new SqliteInbox({ file: database.file, maxBacklog: MAX_BACKLOG });
  }
  return await PostgresInbox.open({ url, schema, maxBacklog: MAX_BACKLOG, onStatement });
}

export async function fillInbox(inbox: Inbox, events: readonly QueueEvent[]): Promise<void> {
  for (let from = 0; from < events.length; from += 1000) {
    await inbox.put(events.slice(from, from + 1000).map(toNewEvent), "webhook");
  }
}

export function toNewEvent(event: QueueEvent): NewEvent {
  const { id, conversation } = event;
  const body = JSON.stringify(messageEvent(event));
  return { id, type: "dm.message", lane: `dm:${conversation}`, ord: orderKey(id), body };
}
