import type { Database, Statement } from "better-sqlite3";
import type { AnyEvent, EventType, PayloadByType } from "../../events/types.ts";
import { eventId, eventSeq } from "./ids.ts";

/** An event that is about to be written: of a known type, or of one that is still to be invented. */
export type NewEvent =
  | { [T in EventType]: { readonly type: T; readonly payload: PayloadByType[T] } }[EventType]
  | { readonly type: string; readonly payload: Readonly<Record<string, unknown>> };

/** An event of the log. Pages and deliveries send its text as it is. */
export interface LoggedEvent {
  readonly seq: number;
  readonly id: string;
  /** The bot in whose log it is. */
  readonly recipient: number;
  /** The event as JSON. */
  readonly json: string;
}

export function eventOf({ json }: LoggedEvent): AnyEvent {
  return JSON.parse(json);
}

/** Which events a reader may see (section 4, rule 6 of GET /events). */
export interface Visible {
  readonly dms: boolean;
  readonly others: boolean;
}

interface EventRow {
  readonly seq: number;
  readonly recipient: number;
  readonly type: string;
  readonly payload: string;
  readonly created_at: number;
}

interface PageOf {
  readonly recipient: number;
  readonly after: number;
  readonly limit: number;
}

const EVENT = `
  SELECT event.seq, event.recipient, event.type, event.payload, event.created_at FROM event`;

/** The largest number that an event ever had, also one that was lost when the state was replaced. */
const HIGHEST = `max(
  (SELECT coalesce(max(seq), 0) FROM event),
  coalesce((SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'event_floor'), 0))`;

/** Whether an event is in the log by now: one that is committed late has its number before. */
const COMMITTED = "NOT EXISTS (SELECT 1 FROM late_event WHERE late_event.event = event.seq)";

// The filter stands before the limit, so that a page is short only at the end of the log: a page
// emptied afterwards would leave its reader where it is. Each has an index of its own: a reader
// of one kind does not walk past a million events of the other.
const PAGE = `${EVENT}
  WHERE recipient = @recipient AND seq > @after AND ${COMMITTED}
  ORDER BY seq LIMIT @limit`;
const PAGE_OF_KIND = `${EVENT}
  WHERE recipient = @recipient AND (type = 'dm.message') = @dms AND seq > @after
    AND ${COMMITTED}
  ORDER BY seq LIMIT @limit`;

/** The event log (section 6): every event that concerns a bot, in the order of the ids. Events are never deleted. */
export class EventLog {
  readonly #insert: Statement<[number, string, string, number]>;
  readonly #get: Statement<[number], EventRow>;
  readonly #last: Statement<[number], { seq: number }>;
  readonly #highest: Statement<[], { seq: number }>;
  readonly #raise: Statement<[string]>;
  readonly #present: Statement<[{ recipient: number }], { seq: number }>;
  readonly #page: Statement<[PageOf], EventRow>;
  readonly #pageOfKind: Statement<[PageOf & { dms: number }], EventRow>;
  readonly #pending: Statement<[number, number], EventRow>;

  constructor(db: Database) {
    this.#insert = db.prepare(
      `INSERT INTO event (seq, recipient, type, payload, created_at)
       VALUES (${HIGHEST} + 1, ?, ?, ?, ?)`,
    );
    this.#get = db.prepare(`${EVENT} WHERE seq = ? AND ${COMMITTED}`);
    this.#last = db.prepare(
      `SELECT seq FROM event WHERE recipient = ? AND ${COMMITTED} ORDER BY seq DESC LIMIT 1`,
    );
    // CROSS JOIN: from the few events that are late, and not from all that the bot ever had.
    this.#present = db.prepare(
      `SELECT seq FROM event WHERE recipient = @recipient AND seq < coalesce((
         SELECT late.event FROM late_event late CROSS JOIN event e ON e.seq = late.event
         WHERE e.recipient = @recipient ORDER BY late.event LIMIT 1), 1e15)
       ORDER BY seq DESC LIMIT 1`,
    );
    this.#highest = db.prepare(`SELECT ${HIGHEST} AS seq`);
    this.#raise = db.prepare("INSERT OR REPLACE INTO setting VALUES ('event_floor', ?)");
    this.#page = db.prepare(PAGE);
    this.#pageOfKind = db.prepare(PAGE_OF_KIND);
    this.#pending = db.prepare(
      `${EVENT} JOIN pending_delivery p ON p.event = event.seq
       WHERE p.bot = +? ORDER BY p.event LIMIT ?`,
    );
  }

  /** Writes an event into the log of a bot. */
  append(recipient: number, { type, payload }: NewEvent, at: number): LoggedEvent {
    const json = JSON.stringify(payload);
    const seq = Number(this.#insert.run(recipient, type, json, at).lastInsertRowid);
    return toLogged({ seq, recipient, type, payload: json, created_at: at });
  }

  /** Undefined also for one that is late. */
  find(seq: number): LoggedEvent | undefined {
    const row = this.#get.get(seq);
    return row && toLogged(row);
  }

  /** Undefined also for one that is late, and for what is no id. */
  findById(id: string): LoggedEvent | undefined {
    const seq = eventSeq(id);
    return seq === undefined ? undefined : this.find(seq);
  }

  /** The number of the newest event of a bot; 0 when there is none. */
  lastSeq(recipient: number): number {
    return this.#last.get(recipient)?.seq ?? 0;
  }

  /** The largest number that an event ever had, of any bot. The next one gets a larger one. */
  highestSeq(): number {
    return this.#highest.get()?.seq ?? 0;
  }

  /** From now on events get numbers above this one. */
  raiseFloor(seq: number): void {
    this.#raise.run(String(seq));
  }

  /**
   * Returns the position of the present of a bot: its newest event below every one that is still to come; 0 when there
   * is none.
   */
  presentSeq(recipient: number): number {
    return this.#present.get({ recipient })?.seq ?? 0;
  }

  /** Events of a bot later than `after`, oldest first; all of them when `limit` is absent. */
  page(recipient: number, after: number, { dms, others }: Visible, limit = -1): LoggedEvent[] {
    if (!dms && !others) return [];
    const of = { recipient, after, limit };
    const rows =
      dms && others ? this.#page.all(of) : this.#pageOfKind.all({ ...of, dms: dms ? 1 : 0 });
    return rows.map(toLogged);
  }

  /** The events that the webhook of a bot owes, oldest first. */
  pending(bot: number, limit: number): LoggedEvent[] {
    return this.#pending.all(bot, limit).map(toLogged);
  }
}

function toLogged({ seq, recipient, type, payload, created_at: at }: EventRow): LoggedEvent {
  const id = eventId(seq);
  const createdAt = new Date(at).toISOString();
  const json = `{"id":"${id}","type":${JSON.stringify(type)},"payload":${payload},"createdAt":"${createdAt}"}`;
  return { seq, id, recipient, json };
}

/** Events that have a number and are not in the log yet. */
export class LateEvents {
  readonly #hold: Statement<[number, number]>;
  readonly #due: Statement<[number], number>;
  readonly #nextDue: Statement<[], number | null>;
  readonly #release: Statement<[number]>;
  readonly #count: Statement<[], number>;

  constructor(db: Database) {
    this.#hold = db.prepare("INSERT INTO late_event (event, due_at) VALUES (?, ?)");
    this.#due = db
      .prepare<[number], number>("SELECT event FROM late_event WHERE due_at <= ? ORDER BY event")
      .pluck();
    this.#nextDue = db.prepare<[], number | null>("SELECT min(due_at) FROM late_event").pluck();
    this.#release = db.prepare("DELETE FROM late_event WHERE event = ?");
    this.#count = db.prepare<[], number>("SELECT count(*) FROM late_event").pluck();
  }

  /** @param dueAt when it comes into the log, in milliseconds since 1970 */
  hold({ seq }: LoggedEvent, dueAt: number): void {
    this.#hold.run(seq, dueAt);
  }

  /** The numbers of the events whose time it is, in the order of the log. */
  due(now: number): number[] {
    return this.#due.all(now);
  }

  /** When the next one is due, in milliseconds since 1970; undefined when none is late. */
  nextDue(): number | undefined {
    return this.#nextDue.get() ?? undefined;
  }

  /** From now on it is in the log. */
  release(seq: number): void {
    this.#release.run(seq);
  }

  count(): number {
    return this.#count.get() ?? 0;
  }
}
