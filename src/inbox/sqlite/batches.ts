import type { Database, Statement } from "better-sqlite3";
import type { CursorMove, NewEvent, PutResult, Source } from "../inbox.ts";
import type { ArrivalsByLane } from "./arrivals.ts";

type Write<Parameters extends unknown[]> = Statement<Parameters>;

/** The columns of a new event, in the order of the statement. */
type EventRow = [
  id: string,
  lane: string,
  ord: string,
  type: string,
  body: string,
  source: Source,
  state: "pending" | "dead",
  receivedAt: number,
  endedAt: number | null,
  error: string | null,
  trace: string | null,
];

/** What is put in at once. */
export interface Batch {
  readonly events: readonly NewEvent[];
  readonly source: Source;
  readonly cursors: readonly CursorMove[];
  readonly trace: string | undefined;
}

/** A batch that was stored. */
export interface StoredBatch {
  readonly result: PutResult;
  /** Of each event that its lane is to be told of. */
  readonly lanes: readonly string[];
  readonly now: number;
}

/** The way in: batches of events, with the cursors that were read with them. Runs inside a transaction. */
export class Batches {
  // By place: looking values up by name costs as much as the row does.
  readonly #insert: Write<EventRow>;
  readonly #wakeLane: Write<[lane: string, events: number, at: number]>;
  readonly #moveCursor: Write<[name: string, position: string]>;
  readonly #noteType: Write<[type: string]>;
  readonly #known: Statement<[ids: string], { readonly n: number }>;
  /** Types that are in the file for certain. */
  readonly #noted = new Set<string>();

  constructor(db: Database) {
    this.#insert = db.prepare(
      `INSERT INTO event (id, lane, ord, type, body, source, state, received_at, done_at, error,
         trace)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO NOTHING`,
    );
    // A lane that is leased or waits for a retry keeps its time: its order is worth more than its speed.
    this.#wakeLane = db.prepare(
      `INSERT INTO lane (key, pending, ready_at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE
         SET pending = pending + excluded.pending, ready_at = coalesce(ready_at, excluded.ready_at)`,
    );
    this.#moveCursor = db.prepare(
      `INSERT INTO cursor (name, position) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
    );
    this.#known = db.prepare(
      "SELECT count(*) AS n FROM event WHERE id IN (SELECT value FROM json_each(?))",
    );
    this.#noteType = db.prepare(
      "INSERT INTO webhook_type (type) VALUES (?) ON CONFLICT (type) DO NOTHING",
    );
  }

  /** True when storing these would add nothing. */
  allKnown(events: readonly NewEvent[]): boolean {
    const ids = [...new Set(events.map(({ id }) => id))];
    return this.#known.get(JSON.stringify(ids))?.n === ids.length;
  }

  put({ events, source, cursors, trace }: Batch, now: number): StoredBatch {
    const stored: string[] = [];
    const lanes: string[] = [];
    let unusable = 0;
    for (const event of events) {
      if (!this.#store(event, source, now, trace ?? null)) continue;
      stored.push(event.id);
      if (event.unusable === undefined) lanes.push(event.lane);
      else unusable += 1;
    }
    if (source === "webhook") this.#noteTypes(events);
    for (const { name, position } of cursors) this.#moveCursor.run(name, position);
    const duplicates = events.length - stored.length;
    return { result: { stored, duplicates, unusable }, lanes, now };
  }

  /** Writes that lanes have got events. */
  wake(arrivals: ArrivalsByLane): void {
    for (const [lane, { events, at }] of arrivals) this.#wakeLane.run(lane, events, at);
  }

  /** Tells that a batch from the webhook is on the disk: its types need not be written once more. */
  kept(events: readonly NewEvent[]): void {
    for (const { type } of events) this.#noted.add(type);
  }

  #store(event: NewEvent, source: Source, now: number, trace: string | null): boolean {
    const { id, type, lane, ord, body, unusable } = event;
    const state = unusable === undefined ? "pending" : "dead";
    const endedAt = unusable === undefined ? null : now;
    const error = unusable ?? null;
    const columns: EventRow = [
      id,
      lane,
      ord,
      type,
      body,
      source,
      state,
      now,
      endedAt,
      error,
      trace,
    ];
    return this.#insert.run(...columns).changes > 0;
  }

  #noteTypes(events: readonly NewEvent[]): void {
    for (const { type } of events) {
      if (!this.#noted.has(type)) this.#noteType.run(type);
    }
  }
}
