import { quoteValue } from "../../core/kinds.ts";
import { ServiceBotError } from "../../errors.ts";
import type {
  StateListOptions,
  StatePage,
  StateSummary,
  TimerListOptions,
  TimerPage,
} from "../admin.ts";
import type { StoredState, StoredTimer, TimerName } from "../effects.ts";
import { STATE, TIMER } from "./effects.ts";
import { pageSize } from "./events.ts";
import { type Dialect, query, type Script, type SqlStore } from "./store.ts";

/** Sorts after every other key with the same prefix. */
const LAST_CHARACTER = "\u{10ffff}";

const LIST_STATES = `
SELECT key, octet_length(value) AS bytes, version, updated_at AS "updatedAt" FROM {schema}.state
WHERE key >= $1 AND key < $2 AND (CAST($3 AS text) IS NULL OR key > $3) ORDER BY key LIMIT $4`;

const LIST_TIMERS = `
SELECT ${TIMER} FROM {schema}.timer
WHERE (CAST($1 AS text) IS NULL OR lane = $1) AND (CAST($2 AS text) IS NULL OR name = $2)
  AND (due_at, lane, name, key) > ($3, $4, $5, $6)
ORDER BY due_at, lane, name, key LIMIT $7`;

/**
 * Locks the lane before its timers, as the end of a run does. The opposite order could deadlock. A lane without a row
 * has no run.
 */
const LOCK_LANE = "SELECT key FROM {schema}.lane WHERE key = $1 FOR UPDATE";

/** If the lane has no row to lock, locks its timers in key order, the order in which a first run would write them. */
const makeDueIn = ({ locksRows }: Dialect) => `
WITH found AS MATERIALIZED (
  SELECT lane, name, key FROM {schema}.timer
  WHERE lane = $1 AND name = $2 AND (CAST($3 AS text) IS NULL OR key = $3) ORDER BY key
  ${locksRows ? "FOR UPDATE" : ""}
)
UPDATE {schema}.timer SET due_at = CASE WHEN due_at > {now} THEN {now} ELSE due_at END FROM found
WHERE timer.lane = found.lane AND timer.name = found.name AND timer.key = found.key RETURNING 1 AS n`;

/** Reads handlers' states and timers for display. */
export class States {
  readonly #store: SqlStore;
  readonly #makeDue: string;

  constructor(store: SqlStore) {
    this.#store = store;
    this.#makeDue = makeDueIn(store.dialect);
  }

  async list({ prefix = "", limit, after }: StateListOptions): Promise<StatePage> {
    const size = pageSize(limit);
    const values = [prefix, prefix + LAST_CHARACTER, after ?? null, size + 1];
    const rows = await this.#store.rows<StateSummary>(LIST_STATES, values);
    const states = rows.slice(0, size);
    return { states, next: rows.length > size ? states.at(-1)?.key : undefined };
  }

  async find(key: string): Promise<StoredState | undefined> {
    const text = `SELECT ${STATE} FROM {schema}.state WHERE key = $1`;
    const [row] = await this.#store.rows<StoredState>(text, [key]);
    return row;
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#store.write("DELETE FROM {schema}.state WHERE key = $1", [key])) > 0;
  }

  makeDue({ lane, name, key }: TimerName): Promise<number> {
    const { locksRows } = this.#store.dialect;
    const makeDue = this.#makeDue;
    return this.#store.run(function* (): Script<number> {
      if (locksRows) yield* query(LOCK_LANE, lane);
      return (yield* query(makeDue, lane, name, key ?? null)).length;
    });
  }

  /** @throws {ServiceBotError} CURSOR_INVALID */
  async timers({ lane, name, limit, after }: TimerListOptions): Promise<TimerPage> {
    const size = pageSize(limit);
    const values = [lane ?? null, name ?? null, ...readCursor(after), size + 1];
    const rows = await this.#store.rows<StoredTimer>(LIST_TIMERS, values);
    const timers = rows.slice(0, size);
    const last = rows.length > size ? timers.at(-1) : undefined;
    return {
      timers,
      next: last && JSON.stringify([last.dueAt, last.lane, last.name, last.key]),
    };
  }
}

/** Position in the sorted list of timers. */
type TimerPosition = readonly [dueAt: number, lane: string, name: string, key: string];

/** @param after the previous page's `next` */
function readCursor(after: string | undefined): TimerPosition {
  if (after === undefined) return [-1, "", "", ""];
  try {
    const position: unknown = JSON.parse(after);
    if (isTimerPosition(position)) return position;
  } catch {
    // Invalid JSON is an invalid cursor too.
  }
  throw new ServiceBotError(
    "CURSOR_INVALID",
    `Invalid cursor ${quoteValue(after)}. Pass the "next" value from the previous page.`,
  );
}

function isTimerPosition(position: unknown): position is TimerPosition {
  if (!Array.isArray(position) || position.length !== 4) return false;
  const [dueAt, ...names] = position;
  return Number.isSafeInteger(dueAt) && names.every((name) => typeof name === "string");
}
