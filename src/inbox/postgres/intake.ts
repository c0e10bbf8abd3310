import type { CursorMove, NewEvent, PutResult, Source } from "../inbox.ts";
import { query, type Script } from "../sql/store.ts";
import type { Queries } from "./database.ts";

const NOTE_TYPES = `, noted AS (
  INSERT INTO {schema}.webhook_type (type)
  SELECT DISTINCT type COLLATE "C" FROM input ORDER BY 1
  ON CONFLICT (type) DO NOTHING
)`;

const MOVE_CURSORS = `, moved AS (
  INSERT INTO {schema}.cursor (name, position, term)
  SELECT moves.name, position, coalesce(moves.term, 0)
  FROM unnest($9::text[], $10::text[], $11::bigint[]) AS moves (name, position, term)
    LEFT JOIN LATERAL (
      SELECT true AS held FROM {schema}.leader
      WHERE leader.name = moves.name AND leader.term = moves.term FOR SHARE
    ) AS fence ON true
  WHERE moves.term IS NULL OR fence.held
  ORDER BY moves.name COLLATE "C"
  ON CONFLICT (name) DO UPDATE SET position = excluded.position, term = excluded.term
  RETURNING name
)`;

/**
 * Stores a batch in one statement, which is one transaction and one round trip. Events are sorted by id and lanes by
 * key, because batches that lock rows in different orders could deadlock. A lane that is leased or waiting for a retry
 * keeps its time, because order matters more than speed. A cursor with a term moves only during that term. The leader's
 * row stays locked until the commit.
 *
 * Unused parts are left out, because planning them would take longer than running the rest.
 */
const put = (parts: { readonly types: boolean; readonly cursors: boolean }) => `
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    WITH ORDINALITY AS input (id, lane, ord, type, body, error, n)
), stored AS (
  INSERT INTO {schema}.event (id, lane, ord, type, body, source, state, received_at, done_at, error, trace)
  SELECT id, lane, ord, type, body, $7::text,
    CASE WHEN error IS NULL THEN 'pending' ELSE 'dead' END, {now},
    CASE WHEN error IS NOT NULL THEN {now} END, error, $8::text
  FROM input ORDER BY ord COLLATE "C", n
  ON CONFLICT (id) DO NOTHING
  RETURNING id, lane, state
), woken AS (
  INSERT INTO {schema}.lane (key, pending, ready_at)
  SELECT lane, count(*), {now} FROM stored WHERE state = 'pending' GROUP BY lane ORDER BY lane
  ON CONFLICT (key) DO UPDATE SET pending = lane.pending + excluded.pending,
    ready_at = coalesce(lane.ready_at, excluded.ready_at)
)${parts.types ? NOTE_TYPES : ""}${parts.cursors ? MOVE_CURSORS : ""}
SELECT id, state FROM stored${parts.cursors ? " UNION ALL SELECT NULL, 'moved' FROM moved" : ""}`;

const PUT = put({ types: false, cursors: false });
const PUT_TYPES = put({ types: true, cursors: false });
const PUT_CURSORS = put({ types: false, cursors: true });
const PUT_ALL = put({ types: true, cursors: true });

/** Stores the bot's own events within a transaction. Events in the same lane are handled in this order. */
export function* putOwn(events: readonly NewEvent[]): Script<PutResult> {
  return resultOf(events, yield* query<PutRow>(PUT, ...columnsOf(events, "poll")));
}

interface PutRow {
  /** `null` in the row of a cursor that has moved. */
  readonly id: string | null;
  readonly state: string;
}

export class Intake {
  readonly #queries: Queries;
  /** Types that are definitely in the table. */
  readonly #noted = new Set<string>();

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  async put(
    events: readonly NewEvent[],
    source: Source,
    cursors: readonly CursorMove[],
    trace?: string,
  ): Promise<PutResult> {
    // If a cursor moves more than once, the last move wins.
    const moves = [...new Map(cursors.map((move) => [move.name, move])).values()];
    const news = events.map(({ type }) => type).filter((type) => !this.#noted.has(type));
    const types = source === "webhook" && news.length > 0;
    const [plain, withCursors] = types ? [PUT_TYPES, PUT_ALL] : [PUT, PUT_CURSORS];
    const statement = moves.length > 0 ? withCursors : plain;
    const answer = await this.#queries.rows<PutRow>(statement, [
      ...columnsOf(events, source, trace),
      ...(moves.length > 0 ? moved(moves) : []),
    ]);
    if (types) for (const type of news) this.#noted.add(type);
    const rows = answer.filter(({ id }) => id !== null);
    const termOver = answer.length - rows.length < moves.length;
    return { ...resultOf(events, rows), ...(termOver ? { termOver } : {}) };
  }
}

/** Returns the values `$1` to `$8`, which all variants of the statement share. */
function columnsOf(events: readonly NewEvent[], source: Source, trace?: string): unknown[] {
  const column = <K extends keyof NewEvent>(name: K) => events.map((event) => event[name] ?? null);
  return [
    ...[column("id"), column("lane"), column("ord"), column("type"), column("body")],
    ...[column("unusable"), source, trace ?? null],
  ];
}

function resultOf(events: readonly NewEvent[], rows: readonly PutRow[]): PutResult {
  const stored = new Set(rows.map(({ id }) => id));
  return {
    stored: [...new Set(events.map(({ id }) => id))].filter((id) => stored.has(id)),
    duplicates: events.length - rows.length,
    unusable: rows.filter(({ state }) => state === "dead").length,
  };
}

function moved(moves: readonly CursorMove[]): unknown[] {
  return [
    moves.map(({ name }) => name),
    moves.map(({ position }) => position),
    moves.map(({ term }) => term ?? null),
  ];
}

/**
 * Counts the pending events. This process tracks its own changes, because counting rows for every batch would cost more
 * than storing the batch. Now and then, a recount includes other processes' changes. Before a batch is refused, the
 * count is exact.
 */
export class Backlog {
  readonly max: number;
  readonly #count: () => Promise<number>;
  #pending = 0;
  /** Number of events ever added. Never decreases. */
  #came = 0;
  #stale = false;

  constructor(max: number, count: () => Promise<number>) {
    this.max = max;
    this.#count = count;
  }

  get mayBeFull(): boolean {
    return this.#pending >= this.max;
  }

  add(pending: number): void {
    this.#pending += pending;
    this.#came += Math.max(0, pending);
  }

  /** Waits for a write. If it fails, it may have been committed even so, so the count becomes stale. */
  async watch<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      this.#stale = true;
      throw error;
    }
  }

  /** @param countNow true if the rows may be recounted now */
  othersMayHaveChangedIt(countNow: boolean): void {
    if (!countNow) this.#stale = true;
    else if (this.#stale) this.recount().catch(() => undefined);
  }

  /** Recounts the rows. Events that arrive in the meantime may be counted twice until the next recount. */
  async recount(): Promise<number> {
    this.#stale = false;
    const before = this.#came;
    try {
      const counted = await this.#count();
      this.#pending = counted + this.#came - before;
      return counted;
    } catch (error) {
      this.#stale = true;
      throw error;
    }
  }
}
