import { orderKey } from "../../src/events/id.ts";
import { type OpenFile, openFile } from "../../src/inbox/sqlite/open.ts";
import { answer } from "../harness/child.ts";
import { makeFolder } from "../support/folder.ts";
import { messageOf } from "../support/formats.ts";
import { type MessageEvent, messageEvent } from "../support/message.ts";
import { inBatches, makeEvents } from "../support/queue.ts";

/** Rows per transaction. SQLite is fastest at about this number. */
const TRANSACTION = 500;

const folder = makeFolder();
let files = 0;

/** Copies of the inbox's statements. */
const statements = {
  insert: `INSERT INTO event (id, lane, ord, type, body, source, state, received_at)
    VALUES (?, ?, ?, 'dm.message', ?, 'webhook', 'pending', ?)`,
  first: `SELECT seq, id, type, body, ord, source, attempts, crashes, received_at, trace FROM event
    WHERE lane = +? AND state = 'pending' ORDER BY ord, seq LIMIT 1`,
  mark: "UPDATE event SET fence = ?, leased_until = ? WHERE seq = ? AND state = 'pending'",
  end: `UPDATE event SET state = 'done', error = NULL, done_at = ?, attempts = attempts + 1, leased_until = NULL
    WHERE seq = ? AND fence = ? AND leased_until IS NOT NULL AND state = 'pending'`,
};

type Row = readonly [id: string, lane: string, ord: string, body: string, at: number];

/** The least work with a file of an inbox's tables, indexes and settings. */
const handlers = {
  /** Inserts `count` rows into a new file. Returns the duration in ms. */
  insert: (count: number): number => {
    return inNewFile((db) => {
      const rows = Array.from({ length: count }, (_, nth) => rowOf(messageOf(nth)));
      return insertAll(db, rows);
    });
  },
  /**
   * Finds, marks and ends every row of `count` in `lanes` lanes, with `together` lanes per transaction. A row ends in
   * the transaction after its mark. Returns the duration in ms.
   */
  drain: (count: number, lanes: number, together: number): number => {
    return inNewFile((db) => {
      const rows = makeEvents(count, lanes).map((event) => rowOf(messageEvent(event)));
      insertAll(db, rows);
      db.pragma("synchronous = NORMAL");
      const keys = [...new Set(rows.map(([, lane]) => lane))];
      const drain = drainer(db);
      const started = performance.now();
      for (const some of inBatches(keys, together)) drain(some);
      return performance.now() - started;
    });
  },
  close: (): void => folder.remove(),
};

function inNewFile(work: (db: OpenFile["db"]) => number): number {
  files += 1;
  const file = openFile(folder.file(`rows-${files}.db`));
  const ms = work(file.db);
  file.close();
  return ms;
}

function rowOf(event: MessageEvent): Row {
  const { id, payload } = event;
  const lane = `dm:${payload.conversationId}`;
  return [id, lane, orderKey(id), JSON.stringify(event), Date.now()];
}

function insertAll(db: OpenFile["db"], rows: readonly Row[]): number {
  const insert = db.prepare(statements.insert);
  const write = db.transaction((some: readonly Row[]) => {
    for (const row of some) insert.run(...row);
  });
  const started = performance.now();
  for (const some of inBatches(rows, TRANSACTION)) write(some);
  return performance.now() - started;
}

function drainer(db: OpenFile["db"]): (lanes: readonly string[]) => void {
  const first = db.prepare<unknown[], { readonly seq: number }>(statements.first);
  const [mark, end] = [db.prepare(statements.mark), db.prepare(statements.end)];
  const fence = 1;
  const round = db.transaction((lanes: readonly string[], running: readonly number[]) => {
    const now = Date.now();
    for (const seq of running) end.run(now, seq, fence);
    const next = lanes.flatMap((lane) => first.get(lane)?.seq ?? []);
    for (const seq of next) mark.run(fence, now, seq);
    return next;
  });
  return (lanes) => {
    for (let running = round(lanes, []); running.length > 0; ) running = round(lanes, running);
  };
}

export type EventRows = typeof handlers;

answer(handlers);
