import type { Database, Statement } from "better-sqlite3";
import type { CursorMove, NewEvent, PutResult, Source } from "../inbox.ts";

type Write = Statement<[Record<string, unknown>]>;

/** The way in: batches of events, with the cursors that were read with them. Runs inside a transaction. */
export class Batches {
  readonly #insert: Write;
  readonly #wakeLane: Write;
  readonly #moveCursor: Write;
  readonly #noteType: Write;
  readonly #known: Statement<[Record<string, unknown>], { readonly n: number }>;

  constructor(db: Database) {
    this.#insert = db.prepare(
      `INSERT INTO event (id, lane, ord, type, body, source, state, received_at, done_at, error)
       VALUES (@id, @lane, @ord, @type, @body, @source, @state, @now, @endedAt, @error)
       ON CONFLICT (id) DO NOTHING`,
    );
    // A lane that is leased or waits for a retry keeps its time: its order is worth more than its speed.
    this.#wakeLane = db.prepare(
      `INSERT INTO lane (key, pending, ready_at) VALUES (@lane, 1, @now)
       ON CONFLICT (key) DO UPDATE SET pending = pending + 1, ready_at = coalesce(ready_at, @now)`,
    );
    this.#moveCursor = db.prepare(
      `INSERT INTO cursor (name, position) VALUES (@name, @position)
       ON CONFLICT (name) DO UPDATE SET position = @position`,
    );
    this.#known = db.prepare(
      "SELECT count(*) AS n FROM event WHERE id IN (SELECT value FROM json_each(@ids))",
    );
    this.#noteType = db.prepare(
      "INSERT INTO webhook_type (type) VALUES (@type) ON CONFLICT (type) DO NOTHING",
    );
  }

  /** True when storing these would add nothing. */
  allKnown(events: readonly NewEvent[]): boolean {
    const ids = [...new Set(events.map(({ id }) => id))];
    return this.#known.get({ ids: JSON.stringify(ids) })?.n === ids.length;
  }

  put(
    events: readonly NewEvent[],
    source: Source,
    cursors: readonly CursorMove[],
    now: number,
  ): PutResult {
    const stored: string[] = [];
    let unusable = 0;
    for (const event of events) {
      if (!this.#store(event, source, now)) continue;
      stored.push(event.id);
      if (event.unusable !== undefined) unusable += 1;
    }
    if (source === "webhook") this.#noteTypes(events);
    for (const cursor of cursors) this.#moveCursor.run({ ...cursor });
    return { stored, duplicates: events.length - stored.length, unusable };
  }

  #store(event: NewEvent, source: Source, now: number): boolean {
    const { id, type, lane, ord, body, unusable } = event;
    const ended =
      unusable === undefined
        ? { state: "pending", endedAt: null, error: null }
        : { state: "dead", endedAt: now, error: unusable };
    const { changes } = this.#insert.run({ id, type, lane, ord, body, source, now, ...ended });
    if (changes === 0) return false;
    if (unusable === undefined) this.#wakeLane.run({ lane, now });
    return true;
  }

  #noteTypes(events: readonly NewEvent[]): void {
    for (const type of new Set(events.map((event) => event.type))) this.#noteType.run({ type });
  }
}
