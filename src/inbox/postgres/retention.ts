import type { Retention } from "../inbox.ts";
import type { Queries } from "./database.ts";
import { ended } from "./sql.ts";

/** So many rows are dropped in one transaction, so that deliveries need not wait for it. */
const BATCH = 500;

/** What is kept for longer is kept for ever: `Infinity` is no number of PostgreSQL's. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;

/**
 * What somebody else is about to change is left for the next time; what is locked stays as it is. The
 * oldest come first, and each phase finds them by an index of what is there to be dropped.
 */
const old = (columns: string, table: string, where: string) => `
WITH old AS MATERIALIZED (
  SELECT ${columns} FROM {schema}.${table}
  WHERE ${where} AND done_at < {now} - $1::bigint
  ORDER BY done_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
)`;

const ALONG = `
steps AS (DELETE FROM {schema}.step USING old WHERE step.event_id = old.id),
runs AS (DELETE FROM {schema}.attempt USING old WHERE attempt.event_id = old.id)`;

const BODIES = `${old("id", "event", ended.whole)},${ALONG}
UPDATE {schema}.event SET body = NULL FROM old WHERE event.id = old.id RETURNING event.id`;

const IDS = `${old("id", "event", ended.bare)}
DELETE FROM {schema}.event USING old WHERE event.id = old.id RETURNING event.id`;

const DEAD = `${old("id", "event", ended.dead)},${ALONG}
DELETE FROM {schema}.event USING old WHERE event.id = old.id RETURNING event.id`;

/** The fences of a lane begin anew when it is made again, so it stays until no claim can be left of it. */
const LANES = `${old("key", "lane", "ready_at IS NULL AND pending = 0 AND owner IS NULL")}
DELETE FROM {schema}.lane USING old WHERE lane.key = old.key RETURNING lane.key`;

interface Phase {
  readonly statement: string;
  /** What is older than this many milliseconds is dropped. */
  age(keep: Retention): number;
}

/** Only what has no body is forgotten, so bodies go first, and never later than ids. */
const phases: readonly Phase[] = [
  { statement: BODIES, age: ({ bodiesMs, idsMs }) => Math.min(bodiesMs, idsMs) },
  { statement: IDS, age: ({ idsMs }) => idsMs },
  { statement: DEAD, age: ({ deadLettersMs }) => deadLettersMs },
  { statement: LANES, age: ({ idsMs }) => idsMs },
];

/** Drops what is older than it need be, in small batches. PostgreSQL reuses the space by itself. */
export class Sweeper {
  readonly #queries: Queries;
  #phase = 0;

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  /** One batch. True while there is more to look at; after that it begins from the start. */
  async sweep(keep: Retention): Promise<boolean> {
    const phase = phases[this.#phase];
    if (phase === undefined) {
      this.#phase = 0;
      return false;
    }
    const age = Math.min(Math.trunc(phase.age(keep)), FOR_EVER_MS);
    const rows = await this.#queries.rows(phase.statement, [age]);
    if (rows.length < BATCH) this.#phase += 1;
    return true;
  }
}
