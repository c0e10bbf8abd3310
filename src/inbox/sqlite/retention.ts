import type { Database } from "better-sqlite3";
import { dropEvents, dropStates, type SweepPhase } from "../sql/retention.ts";
import { query } from "../sql/store.ts";
import { dialect } from "./store.ts";

/**
 * Time without events after which a lane moves to the table of resting lanes, in ms. Active lanes are then stored close
 * together, so a transaction writes few pages. Waking a resting lane reads one more page.
 */
const REST_AFTER_MS = 600_000;

/**
 * Lanes per transaction. Each lane that comes to rest may write another page. Resting lanes are deleted in key order,
 * so they share pages.
 */
const AT_WORK_BATCH = 100;
const RESTING_BATCH = 500;

/**
 * Number of free pages that the sweep keeps for reuse: 4 MB or a tenth of the file, whichever is more. It frees the
 * rest a few pages at a time.
 */
const SPARE_PAGES = 1_024;
const SPARE_SHARE = 0.1;
const VACUUM_PAGES = 256;
const FREE_PAGES =
  "SELECT freelist_count AS free, page_count AS pages FROM pragma_freelist_count, pragma_page_count";

/**
 * A subquery that returns active and resting lanes alike. The casts match the column types. Without them, SQLite would
 * sort all rows for each batch instead of merging the two tables.
 */
export const EVERY_LANE: string = `(
  SELECT key, ready_at, done_ord, done_at FROM lane
  UNION ALL
  SELECT key, CAST(NULL AS INTEGER), done_ord, done_at FROM resting_lane AS resting
  WHERE NOT EXISTS (SELECT 1 FROM lane WHERE lane.key = resting.key))`;

/** Condition for lanes between `$1` and `$2` that have been idle for `$3` ms. */
const IDLE = `key > $1 AND key <= $2
  AND ready_at IS NULL AND coalesce(done_at < {now} - $3, true)`;

const REST = [
  `INSERT INTO resting_lane (key, done_ord, done_at)
   SELECT key, done_ord, coalesce(done_at, {now}) FROM lane WHERE ${IDLE} ORDER BY key
   ON CONFLICT (key) DO UPDATE SET done_ord = excluded.done_ord, done_at = excluded.done_at`,
  `DELETE FROM lane WHERE ${IDLE}`,
];

/** Deletes lanes that have rested for long. An event that arrives afterwards is never late. */
const FORGET = ["DELETE FROM resting_lane WHERE key > $1 AND key <= $2 AND done_at < {now} - $3"];

/**
 * Deletes expired events, moves idle lanes to the table of resting lanes, deletes lanes that have rested for long, and
 * frees pages.
 */
export const sweepPhases = (db: Database): SweepPhase[] => [
  dropEvents(dialect, {
    where: "state <> 'pending'",
    minAge: ({ bodiesMs, idsMs, deadLettersMs }) => Math.min(bodiesMs, idsMs, deadLettersMs),
  }),
  walk("lane", AT_WORK_BATCH, REST, ({ idsMs }) => Math.min(REST_AFTER_MS, idsMs)),
  walk("resting_lane", RESTING_BATCH, FORGET, ({ idsMs }) => idsMs),
  dropStates(),
  freePages(db),
];

/** Walks a table of lanes in key order, and starts over after the last lane. */
function walk(
  table: string,
  batch: number,
  statements: readonly string[],
  ageOf: (keep: Parameters<SweepPhase>[0]) => number,
): SweepPhase {
  const find = `SELECT max(key) AS last, count(*) AS n
    FROM (SELECT key FROM ${table} WHERE key > $1 ORDER BY key LIMIT ${batch})`;
  let after = "";
  return function* (keep) {
    const [found] = yield* query<{ readonly last: string | null; readonly n: number }>(find, after);
    const last = found?.last ?? null;
    if (last !== null) {
      for (const text of statements) yield* query(text, after, last, ageOf(keep));
    }
    const more = found?.n === batch && last !== null;
    after = more ? last : "";
    return more;
  };
}

function freePages(db: Database): SweepPhase {
  return function* () {
    const [size] = yield* query<{ readonly free: number; readonly pages: number }>(FREE_PAGES);
    const { free, pages } = size ?? { free: 0, pages: 0 };
    if (free <= Math.max(SPARE_PAGES, pages * SPARE_SHARE)) return false;
    // Use `pragma`, because a prepared statement would free only one page.
    db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
    return true;
  };
}
