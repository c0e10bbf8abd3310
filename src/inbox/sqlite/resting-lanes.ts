import type { Database, Statement } from "better-sqlite3";
import type { Retention } from "../inbox.ts";

type Parameters = [Record<string, unknown>];

/** Keys of lanes: those after the first one, and the last one itself. */
interface Range {
  readonly after: string;
  readonly last: string;
}

/**
 * A lane in which nothing has happened for so long comes to rest, in milliseconds. Lanes that are at work lie close together
 * then, and a transaction writes few pages; one that wakes is read from wherever it lies.
 */
const REST_AFTER_MS = 600_000;

/** So many lanes are looked at in one transaction. Each that comes to rest may write a page of its own. */
const AT_WORK_BATCH = 100;

/** Of lanes at rest: those that are forgotten lie side by side. */
const RESTING_BATCH = 500;

/**
 * Every lane that is known, as if all were at work; in the place of a table. Its values have the types of the columns: else
 * SQLite would sort them all for each batch, where it merges the two.
 */
export const EVERY_LANE: string = `(
  SELECT key, pending, ready_at, owner, fence, done_ord, done_at FROM lane
  UNION ALL
  SELECT key, CAST(0 AS INTEGER), CAST(NULL AS INTEGER), CAST(NULL AS TEXT), fence, done_ord, done_at
  FROM resting_lane AS resting
  WHERE NOT EXISTS (SELECT 1 FROM lane WHERE lane.key = resting.key))`;

/** Of these lanes, those that have nothing to do and have had nothing to do since. */
const IDLE = `key > @after AND key <= @last
  AND ready_at IS NULL AND owner IS NULL AND pending <= 0 AND coalesce(done_at < @before, true)`;

/** Puts lanes to rest, and forgets those that have rested for long. Runs inside a transaction. */
export class RestingLanes {
  readonly #atWork: Walk;
  readonly #resting: Walk;
  readonly #rest: readonly Statement<Parameters>[];
  readonly #forget: Statement<Parameters>;

  constructor(db: Database) {
    this.#atWork = new Walk(db, "lane", AT_WORK_BATCH);
    this.#resting = new Walk(db, "resting_lane", RESTING_BATCH);
    this.#rest = [
      db.prepare(
        `INSERT INTO resting_lane (key, fence, done_ord, done_at)
         SELECT key, fence, done_ord, coalesce(done_at, @now) FROM lane WHERE ${IDLE} ORDER BY key
         ON CONFLICT (key) DO UPDATE
           SET fence = excluded.fence, done_ord = excluded.done_ord, done_at = excluded.done_at`,
      ),
      db.prepare(`DELETE FROM lane WHERE ${IDLE}`),
    ];
    // The fences of a lane begin anew when it is made again, so it stays until no claim can be left of it.
    this.#forget = db.prepare(
      "DELETE FROM resting_lane WHERE key > @after AND key <= @last AND done_at < @before",
    );
  }

  /** One batch of the lanes that are at work or were of late. True while there are more to look at. */
  rest({ idsMs }: Retention, now: number): boolean {
    const before = now - Math.min(REST_AFTER_MS, idsMs);
    return this.#atWork.step((range) => {
      for (const statement of this.#rest) statement.run({ ...range, before, now });
    });
  }

  /** One batch of those that rest. True while there are more to look at. */
  forget({ idsMs }: Retention, now: number): boolean {
    return this.#resting.step((range) => this.#forget.run({ ...range, before: now - idsMs }));
  }
}

/** Goes through a table of lanes in the order of their keys, and begins anew after the last one. */
class Walk {
  readonly #size: number;
  readonly #next: Statement<Parameters, { readonly last: string | null; readonly n: number }>;
  #after = "";

  constructor(db: Database, table: string, size: number) {
    this.#size = size;
    this.#next = db.prepare(
      `SELECT max(key) AS last, count(*) AS n
       FROM (SELECT key FROM ${table} WHERE key > @after ORDER BY key LIMIT ${size})`,
    );
  }

  /** Does something with the next few. True while there are more. */
  step(work: (range: Range) => unknown): boolean {
    const after = this.#after;
    const { last, n } = this.#next.get({ after }) ?? { last: null, n: 0 };
    if (last !== null) work({ after, last });
    const more = n === this.#size && last !== null;
    this.#after = more ? last : "";
    return more;
  }
}
