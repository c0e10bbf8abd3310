import type { FiredTimers, StoredTimer } from "../effects.ts";
import type { NewEvent, PutResult } from "../inbox.ts";
import { TIMER } from "../sql/effects.ts";
import { query, type Script, type SqlStore } from "../sql/store.ts";
import { putOwn } from "./intake.ts";

const NEXT = "SELECT min(due_at) - {now} AS ms FROM {schema}.timer";

const FIND_LANES = `
SELECT DISTINCT lane FROM (
  SELECT lane FROM {schema}.timer WHERE due_at <= {now} ORDER BY due_at, lane, name, key LIMIT $1
) AS due`;

/**
 * Locks the timers' lanes in key order and before the timers, as the end of a run does. The opposite order could
 * deadlock.
 */
const LOCK_LANES = `
SELECT key FROM {schema}.lane WHERE key = ANY ($1::text[]) ORDER BY key FOR UPDATE`;

/** Takes due timers, earliest first. Skips timers that another instance has taken or a run has set again. */
const TAKE_DUE = `
WITH due AS MATERIALIZED (
  SELECT ctid AS at FROM {schema}.timer WHERE due_at <= {now} AND lane = ANY ($2::text[])
  ORDER BY due_at, lane, name, key LIMIT $1 FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM {schema}.timer USING due WHERE timer.ctid = due.at RETURNING timer.*
)
SELECT ${TIMER} FROM taken ORDER BY due_at, lane, name, key`;

export interface FiredBatch extends FiredTimers {
  /** `undefined` if no timer was due. */
  readonly stored: PutResult | undefined;
}

/** Pending timers, whichever instance set them. */
export class Timers {
  readonly #store: SqlStore;

  constructor(store: SqlStore) {
    this.#store = store;
  }

  /** Turns due timers into events, in one transaction. */
  async fire(limit: number, toEvent: (timer: StoredTimer) => NewEvent): Promise<FiredBatch> {
    const nextInMs = await this.#nextInMs();
    if (nextInMs !== 0) return { fired: 0, stored: undefined, nextInMs };
    const { fired, stored } = await this.#store.run(() => fire(limit, toEvent));
    return { fired, stored, nextInMs: await this.#nextInMs() };
  }

  async #nextInMs(): Promise<number | undefined> {
    const [row] = await this.#store.rows<{ readonly ms: number | null }>(NEXT);
    return row?.ms == null ? undefined : Math.max(0, row.ms);
  }
}

function* fire(
  limit: number,
  toEvent: (timer: StoredTimer) => NewEvent,
): Script<Pick<FiredBatch, "fired" | "stored">> {
  const lanes = (yield* query<{ readonly lane: string }>(FIND_LANES, limit)).map(
    ({ lane }) => lane,
  );
  yield* query(LOCK_LANES, lanes);
  const due = yield* query<StoredTimer>(TAKE_DUE, limit, lanes);
  const stored = due.length === 0 ? undefined : yield* putOwn(due.map(toEvent));
  return { fired: due.length, stored };
}
