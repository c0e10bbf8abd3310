import type { Database } from "better-sqlite3";
import type { AnyEvent, EventType, PayloadByType } from "../../events/types.ts";
import { eventId, eventSeq } from "./ids.ts";
import { Statement } from "./statement.ts";

export type NewEvent =
  | { [T in EventType]: { readonly type: T; readonly payload: PayloadByType[T] } }[EventType]
  | { readonly type: string; readonly payload: Readonly<Record<string, unknown>> };

/** An event in the log. Pages and deliveries send its JSON unchanged. */
export interface LoggedEvent {
  readonly seq: number;
  readonly id: string;
  /** `seq` of the receiving bot. */
  readonly recipient: number;
  readonly json: string;
}

export function eventOf({ json }: LoggedEvent): AnyEvent {
  return JSON.parse(json);
}

/** Event types that a token may read (section 4 of the platform document, GET /events, rule 6). */
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

/** Highest event number so far, including events that were lost when the state was replaced. */
const HIGHEST = `max(
  (SELECT coalesce(max(seq), 0) FROM event),
  coalesce((SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'event_floor'), 0))`;

/** SQL condition that is true once the event is in the log. A late event gets its number earlier. */
const COMMITTED = "NOT EXISTS (SELECT 1 FROM late_event WHERE late_event.event = event.seq)";

// Filter before applying the limit, so that only the last page is shorter than the limit. A reader that got an empty
// page in the middle of the log would never advance. Each query has its own index. Otherwise a reader of direct
// messages would scan a million other events, and vice versa.
const PAGE = `${EVENT}
  WHERE recipient = @recipient AND seq > @after AND ${COMMITTED}
  ORDER BY seq LIMIT @limit`;
const PAGE_OF_KIND = `${EVENT}
  WHERE recipient = @recipient AND (type = 'dm.message') = @dms AND seq > @after
    AND ${COMMITTED}
  ORDER BY seq LIMIT @limit`;

/** Every bot's events, in id order (section 6 of the platform document). Events are never deleted. */
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
    this.#insert = new Statement(
      db,
      `INSERT INTO event (seq, recipient, type, payload, created_at)
       VALUES (${HIGHEST} + 1, ?, ?, ?, ?)`,
    );
    this.#get = new Statement(db, `${EVENT} WHERE seq = ? AND ${COMMITTED}`);
    this.#last = new Statement(
      db,
      `SELECT seq FROM event WHERE recipient = ? AND ${COMMITTED} ORDER BY seq DESC LIMIT 1`,
    );
    // CROSS JOIN makes SQLite start with the few late events instead of all of the bot's events.
    this.#present = new Statement(
      db,
      `SELECT seq FROM event WHERE recipient = @recipient AND seq < coalesce((
         SELECT late.event FROM late_event late CROSS JOIN event e ON e.seq = late.event
         WHERE e.recipient = @recipient ORDER BY late.event LIMIT 1), 1e15)
       ORDER BY seq DESC LIMIT 1`,
    );
    this.#highest = new Statement(db, `SELECT ${HIGHEST} AS seq`);
    this.#raise = new Statement(db, "INSERT OR REPLACE INTO setting VALUES ('event_floor', ?)");
    this.#page = new Statement(db, PAGE);
    this.#pageOfKind = new Statement(db, PAGE_OF_KIND);
    this.#pending = new Statement(
      db,
      `${EVENT} JOIN pending_delivery p ON p.event = event.seq
       WHERE p.bot = +? ORDER BY p.event LIMIT ?`,
    );
  }

  append(recipient: number, { type, payload }: NewEvent, at: number): LoggedEvent {
    const json = JSON.stringify(payload);
    const seq = Number(this.#insert.run(recipient, type, json, at).lastInsertRowid);
    return toLogged({ seq, recipient, type, payload: json, created_at: at });
  }

  /** Returns `undefined` for an unknown or late event. */
  find(seq: number): LoggedEvent | undefined {
    const row = this.#get.get(seq);
    return row && toLogged(row);
  }

  /** Returns `undefined` for an unknown or late event, or an invalid id. */
  findById(id: string): LoggedEvent | undefined {
    const seq = eventSeq(id);
    return seq === undefined ? undefined : this.find(seq);
  }

  /** Returns the number of a bot's newest event, or 0 if the bot has no events. */
  lastSeq(recipient: number): number {
    return this.#last.get(recipient)?.seq ?? 0;
  }

  /** Returns the highest event number so far, across all bots. The next event gets a higher number. */
  highestSeq(): number {
    return this.#highest.get()?.seq ?? 0;
  }

  raiseFloor(seq: number): void {
    this.#raise.run(String(seq));
  }

  /**
   * Returns the number of the newest event that precedes all of the bot's late events, or 0 if there is none. A reader
   * that starts there misses no event.
   */
  presentSeq(recipient: number): number {
    return this.#present.get({ recipient })?.seq ?? 0;
  }

  /** Returns a bot's events after `after`, oldest first. By default, there is no limit. */
  page(recipient: number, after: number, { dms, others }: Visible, limit = -1): LoggedEvent[] {
    if (!dms && !others) return [];
    const of = { recipient, after, limit };
    const rows =
      dms && others ? this.#page.all(of) : this.#pageOfKind.all({ ...of, dms: dms ? 1 : 0 });
    return rows.map(toLogged);
  }

  /** Returns the events that a bot's webhook has not delivered yet, oldest first. */
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

/** Events that have a number but are not in the log yet. */
export class LateEvents {
  readonly #hold: Statement<[number, number]>;
  readonly #due: Statement<[number], { event: number }>;
  readonly #nextDue: Statement<[], { at: number | null }>;
  readonly #release: Statement<[number]>;
  readonly #count: Statement<[], { n: number }>;

  constructor(db: Database) {
    this.#hold = new Statement(db, "INSERT INTO late_event (event, due_at) VALUES (?, ?)");
    this.#due = new Statement(db, "SELECT event FROM late_event WHERE due_at <= ? ORDER BY event");
    this.#nextDue = new Statement(db, "SELECT min(due_at) AS at FROM late_event");
    this.#release = new Statement(db, "DELETE FROM late_event WHERE event = ?");
    this.#count = new Statement(db, "SELECT count(*) AS n FROM late_event");
  }

  /** @param dueAt time at which the event enters the log, in ms since 1970 */
  hold({ seq }: LoggedEvent, dueAt: number): void {
    this.#hold.run(seq, dueAt);
  }

  /** Returns the numbers of the due events, in log order. */
  due(now: number): number[] {
    return this.#due.all(now).map(({ event }) => event);
  }

  /** Returns the time at which the next late event is due, in ms since 1970, or `undefined` if no event is late. */
  nextDue(): number | undefined {
    return this.#nextDue.get()?.at ?? undefined;
  }

  release(seq: number): void {
    this.#release.run(seq);
  }

  count(): number {
    return this.#count.get()?.n ?? 0;
  }
}
