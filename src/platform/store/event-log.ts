import type { Database, Statement } from "better-sqlite3";
import type { EventType, KnownEvent, PayloadByType } from "../../events/types.ts";
import { eventId } from "./ids.ts";

/** An event that is about to be written. */
export type NewEvent = {
  [T in EventType]: { readonly type: T; readonly payload: PayloadByType[T] };
}[EventType];

/** An event of the log with its number. */
export interface LoggedEvent {
  readonly seq: number;
  readonly event: KnownEvent;
}

/** Which events a reader may see (section 4, rule 6 of GET /events). */
export interface Visible {
  readonly dms: boolean;
  readonly others: boolean;
}

interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly payload: string;
  readonly created_at: number;
}

const COLUMNS = "event.seq, event.type, event.payload, event.created_at";

/** The largest number that an event ever had, also one that was lost when the state was replaced. */
const HIGHEST = `max(
  (SELECT coalesce(max(seq), 0) FROM event),
  coalesce((SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'event_floor'), 0))`;

/** Whether an event is in the log by now: one that is committed late has its number before. */
const COMMITTED = "NOT EXISTS (SELECT 1 FROM late_event WHERE late_event.event = event.seq)";

/** The event log (section 6): every event that concerns the bot, for ever, in the order of the ids. */
export class EventLog {
  readonly #insert: Statement<[string, string, number]>;
  readonly #get: Statement<[number], EventRow>;
  readonly #last: Statement<[], { seq: number }>;
  readonly #highest: Statement<[], { seq: number }>;
  readonly #raise: Statement<[string]>;
  readonly #present: Statement<[], { seq: number }>;
  readonly #page: Statement<
    [{ after: number; limit: number; dms: number; others: number }],
    EventRow
  >;
  readonly #pending: Statement<[number], EventRow>;

  constructor(db: Database) {
    this.#insert = db.prepare(
      `INSERT INTO event (seq, type, payload, created_at) VALUES (${HIGHEST} + 1, ?, ?, ?)`,
    );
    this.#get = db.prepare(`SELECT ${COLUMNS} FROM event WHERE seq = ? AND ${COMMITTED}`);
    this.#last = db.prepare(`SELECT seq FROM event WHERE ${COMMITTED} ORDER BY seq DESC LIMIT 1`);
    this.#present = db.prepare(
      `SELECT seq FROM event WHERE seq < coalesce((SELECT min(event) FROM late_event), 1e15)
       ORDER BY seq DESC LIMIT 1`,
    );
    this.#highest = db.prepare(`SELECT ${HIGHEST} AS seq`);
    this.#raise = db.prepare("INSERT OR REPLACE INTO setting VALUES ('event_floor', ?)");
    // The filter stands before the limit, so that a page is short only at the end of the log: a page
    // emptied afterwards would leave its reader where it is for ever.
    this.#page = db.prepare(
      `SELECT ${COLUMNS} FROM event
       WHERE seq > @after AND iif(type = 'dm.message', @dms, @others) AND ${COMMITTED}
       ORDER BY seq LIMIT @limit`,
    );
    this.#pending = db.prepare(
      `SELECT ${COLUMNS} FROM pending_delivery p JOIN event ON event.seq = p.event
       ORDER BY p.event LIMIT ?`,
    );
  }

  append({ type, payload }: NewEvent, at: number): LoggedEvent {
    const json = JSON.stringify(payload);
    const seq = Number(this.#insert.run(type, json, at).lastInsertRowid);
    return toEvent({ seq, type, payload: json, created_at: at });
  }

  /** Undefined also for one that is late. */
  find(seq: number): LoggedEvent | undefined {
    const row = this.#get.get(seq);
    return row && toEvent(row);
  }

  /** The number of the newest event; 0 when there is none. */
  lastSeq(): number {
    return this.#last.get()?.seq ?? 0;
  }

  /** The largest number that an event ever had. The next one gets a larger one. */
  highestSeq(): number {
    return this.#highest.get()?.seq ?? 0;
  }

  /** From now on events get numbers above this one. */
  raiseFloor(seq: number): void {
    this.#raise.run(String(seq));
  }

  /** Where the present begins: the newest event below every one that is still to come; 0 when there is none. */
  presentSeq(): number {
    return this.#present.get()?.seq ?? 0;
  }

  /** Events later than `after`, oldest first; all of them when `limit` is absent. */
  page(after: number, visible: Visible, limit?: number): LoggedEvent[] {
    const rows = this.#page.all({
      after,
      limit: limit ?? -1,
      dms: visible.dms ? 1 : 0,
      others: visible.others ? 1 : 0,
    });
    return rows.map(toEvent);
  }

  /** The events that the webhook owes, oldest first. */
  pending(limit: number): LoggedEvent[] {
    return this.#pending.all(limit).map(toEvent);
  }
}

function toEvent(row: EventRow): LoggedEvent {
  const event = {
    id: eventId(row.seq),
    type: row.type,
    payload: JSON.parse(row.payload),
    createdAt: new Date(row.created_at).toISOString(),
  };
  // Only `append` writes rows, and it takes types with their payloads.
  return { seq: row.seq, event: event as KnownEvent };
}
