import type { EventState } from "../event-records.ts";
import type { Retention } from "../inbox.ts";
import { type Dialect, query, type Script, type SqlStore } from "./store.ts";

/** Maximum number of rows per transaction. More would delay deliveries. */
const BATCH = 500;

/** PostgreSQL's integers have no `Infinity`. */
const FOREVER_MS = Number.MAX_SAFE_INTEGER;

/** Deletes one batch of expired data. Returns true if more may have expired. */
export type SweepPhase = (keep: Retention) => Script<boolean>;

/** Ended events covered by one index. */
export interface EndedEvents {
  readonly where: string;
  /** Returns the age in ms from which events or their bodies may be deleted. */
  minAge(keep: Retention): number;
}

interface EndedRow {
  readonly seq: number;
  readonly id: string;
  readonly state: EventState;
  readonly done_at: number;
  readonly age: number;
  readonly has_body: number;
}

/** Deletes expired data, one phase after the other. */
export class Sweeper {
  readonly #store: SqlStore;
  readonly #phases: readonly SweepPhase[];
  #phase = 0;

  constructor(store: SqlStore, phases: readonly SweepPhase[]) {
    this.#store = store;
    this.#phases = phases;
  }

  /** Deletes one batch. Returns true until all phases are done, then starts over. */
  async sweep(keep: Retention): Promise<boolean> {
    const phase = this.#phases[this.#phase];
    if (phase === undefined) {
      this.#phase = 0;
      return false;
    }
    if (!(await this.#store.run(() => phase(keep)))) this.#phase += 1;
    return true;
  }
}

const FIND_STATES = `
SELECT max(key) AS last, count(*) AS n
FROM (SELECT key FROM {schema}.state WHERE key > $1 ORDER BY key LIMIT ${BATCH}) AS batch`;

const DROP_STATES = `
DELETE FROM {schema}.state WHERE key > $1 AND key <= $2 AND updated_at < {now} - CAST($3 AS bigint)`;

/** Walks the states by key, because an index on their times would make every write more expensive. */
export function dropStates(): SweepPhase {
  let after = "";
  return function* ({ statesMs = Number.POSITIVE_INFINITY }) {
    if (statesMs >= FOREVER_MS) return false;
    const [found] = yield* query<{ readonly last: string | null; readonly n: number }>(
      FIND_STATES,
      after,
    );
    const last = found?.last ?? null;
    if (last !== null) yield* query(DROP_STATES, after, last, Math.trunc(statesMs));
    const more = found?.n === BATCH && last !== null;
    after = more ? last : "";
    return more;
  };
}

/** Walks an index of events, oldest first, and skips events with a longer retention. */
export function dropEvents({ isAnyOf, locksRows }: Dialect, ended: EndedEvents): SweepPhase {
  const start = { at: -1, seq: 0 };
  let after = start;
  // Skip rows locked by another transaction. The next sweep deletes them.
  const find = `
    SELECT seq, id, state, done_at, {now} - done_at AS age, CASE WHEN body IS NULL THEN 0 ELSE 1 END AS has_body
    FROM {schema}.event
    WHERE ${ended.where} AND done_at < {now} - CAST($1 AS bigint) AND (done_at, seq) > ($2, $3)
    ORDER BY done_at, seq LIMIT ${BATCH} ${locksRows ? "FOR UPDATE SKIP LOCKED" : ""}`;
  const dropSteps = `DELETE FROM {schema}.step WHERE ${isAnyOf("event_id", "$1")}`;
  const dropHistory = `DELETE FROM {schema}.attempt WHERE ${isAnyOf("event_id", "$1")}`;
  const dropBodies = `UPDATE {schema}.event SET body = NULL WHERE ${isAnyOf("id", "$1")}`;
  const drop = `DELETE FROM {schema}.event WHERE ${isAnyOf("id", "$1")}`;
  return function* (keep) {
    const minAge = Math.min(ended.minAge(keep), FOREVER_MS);
    const rows = yield* query<EndedRow>(find, Math.trunc(minAge), after.at, after.seq);
    const old: string[] = [];
    const stripped: string[] = [];
    for (const { id, state, age, has_body } of rows) {
      if (age > (state === "dead" ? keep.deadLettersMs : keep.idsMs)) old.push(id);
      else if (has_body && state !== "dead" && age > keep.bodiesMs) stripped.push(id);
    }
    const emptied = [...old, ...stripped];
    if (emptied.length > 0) {
      yield* query(dropSteps, emptied);
      yield* query(dropHistory, emptied);
    }
    if (stripped.length > 0) yield* query(dropBodies, stripped);
    if (old.length > 0) yield* query(drop, old);
    const last = rows.length === BATCH ? rows.at(-1) : undefined;
    after = last === undefined ? start : { at: last.done_at, seq: last.seq };
    return last !== undefined;
  };
}
