import { orderKey } from "../../src/events/id.ts";
import { type OpenFile, openFile } from "../../src/inbox/sqlite/open.ts";
import { answer } from "../harness/child.ts";
import { makeFolder } from "../support/folder.ts";
import { messageOf } from "../support/formats.ts";

/** Rows per transaction. SQLite is fastest at about this number. */
const TRANSACTION = 500;

const folder = makeFolder();
let files = 0;

/**
 * The least work that stores events: inserts only their rows, into a file with an inbox's tables, indexes and settings.
 */
const handlers = {
  /** Inserts `count` rows into a new file. Returns the duration in ms. */
  insert: (count: number): number => {
    files += 1;
    const file: OpenFile = openFile(folder.file(`rows-${files}.db`));
    const { db } = file;
    const insert = db.prepare(
      `INSERT INTO event (id, lane, ord, type, body, source, state, received_at)
       VALUES (?, ?, ?, 'dm.message', ?, 'webhook', 'pending', ?)`,
    );
    const rows = Array.from({ length: count }, (_, nth) => {
      const { id, payload, ...rest } = messageOf(nth);
      const body = JSON.stringify({ id, payload, ...rest });
      return [id, `dm:${payload.conversationId}`, orderKey(id), body, Date.now()] as const;
    });
    const write = db.transaction((from: number) => {
      for (const row of rows.slice(from, from + TRANSACTION)) insert.run(...row);
    });
    const started = performance.now();
    for (let from = 0; from < count; from += TRANSACTION) write(from);
    const ms = performance.now() - started;
    file.close();
    return ms;
  },
  close: (): void => folder.remove(),
};

export type EventRows = typeof handlers;

answer(handlers);
