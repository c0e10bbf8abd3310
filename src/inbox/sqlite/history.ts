import type { Database } from "better-sqlite3";
import type { AttemptRecord } from "../event-records.ts";
import { LATE_WITHIN_MS, UNTIMED_MARK } from "../lateness.ts";
import { MAX_HISTORY } from "../sql/sql-inbox.ts";
import { TextStatement } from "./text-statement.ts";

/** Records until when the rows of the lanes include every event that has ended. */
export const MARK_LANES = "UPDATE cursor SET position = ? WHERE name = 'lanes'";

/** A run, identified by its claim's fence. */
interface Run {
  readonly id: string;
  readonly fence: number;
  readonly attempt: number;
}

/**
 * Condition for events whose end the lanes' rows may lack. Skips those that are never late. The times are compared as
 * they were written, even if the clock was set back.
 */
const UNWRITTEN = `state <> 'pending' AND attempts > 0 AND ord <> '' AND substr(ord, -1) <> '${UNTIMED_MARK}'
  AND done_at >= (SELECT CAST(position AS INTEGER) FROM cursor WHERE name = 'lanes')`;

const statementsOf = (db: Database) => ({
  add: new TextStatement<
    [
      id: string,
      fence: number,
      attempt: number,
      outcome: AttemptRecord["outcome"],
      error: string | null,
      now: number,
    ]
  >(
    db,
    `INSERT OR REPLACE INTO attempt (event_id, fence, number, outcome, error, ended_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  ),
  trim: new TextStatement<[id: string, id: string]>(
    db,
    `DELETE FROM attempt WHERE event_id = ? AND fence IN (
       SELECT fence FROM attempt WHERE event_id = ?
       ORDER BY ended_at DESC, fence DESC LIMIT -1 OFFSET ${MAX_HISTORY})`,
  ),
  leased: new TextStatement<[], Run>(
    db,
    `SELECT id, fence, attempts + 1 AS attempt FROM event
     WHERE state = 'pending' AND leased_until IS NOT NULL`,
  ),
  // Takes over what the table of resting lanes has about the lanes that get a row below.
  enterLanes: db.prepare<[]>(
    `INSERT INTO lane (key) SELECT DISTINCT lane FROM event WHERE ${UNWRITTEN} ON CONFLICT (key) DO NOTHING`,
  ),
  restoreLanes: db.prepare<[]>(
    `INSERT INTO lane (key, done_ord, done_at)
     SELECT lane, max(ord), max(done_at) FROM event WHERE ${UNWRITTEN} GROUP BY lane
     ON CONFLICT (key) DO UPDATE SET (done_ord, done_at) = (excluded.done_ord, excluded.done_at)
       WHERE coalesce(excluded.done_ord > lane.done_ord OR excluded.done_at > lane.done_at + ${LATE_WITHIN_MS}, true)`,
  ),
  markLanes: db.prepare<[at: string]>(MARK_LANES),
  lastWrite: db.prepare<[], { readonly at: number | null }>(
    `SELECT max(at) AS at FROM (
       SELECT (SELECT received_at FROM event ORDER BY seq DESC LIMIT 1) AS at
       UNION ALL SELECT max(done_at) FROM event WHERE state <> 'pending')`,
  ),
  shift: db.prepare<[ms: number]>(
    "UPDATE lane SET ready_at = ready_at - ? WHERE ready_at IS NOT NULL",
  ),
  // Lanes are ordered by their oldest event. No time is in the future, even after a clock change.
  wake: db.prepare<[now: number, dueAt: number]>(
    `INSERT INTO lane (key, ready_at)
     SELECT lane, min(min(received_at), ?) FROM event
     WHERE state = 'pending' AND lane NOT IN (SELECT key FROM lane WHERE ready_at > ?)
     GROUP BY lane HAVING max(leased_until) IS NULL
     ON CONFLICT (key) DO UPDATE SET ready_at = excluded.ready_at`,
  ),
  countCrash: new TextStatement<[attempt: number, fence: number, id: string]>(
    db,
    `UPDATE event SET attempts = ?, fence = ?, crashes = crashes + 1, leased_until = NULL
     WHERE id = ?`,
  ),
});

/**
 * Records failed and crashed runs, including crashed runs found on the next startup. A successful run has no row and
 * costs nothing.
 */
export class History {
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor(db: Database) {
    this.#sql = statementsOf(db);
  }

  add(
    { id, fence, attempt }: Run,
    outcome: AttemptRecord["outcome"],
    error: string | undefined,
    now: number,
  ): void {
    this.#sql.add.run(id, fence, attempt, outcome, error ?? null, now);
    this.#sql.trim.run(id, id);
  }

  /**
   * Records a run that ended without an outcome. The event's row counts the run as well, because old history is
   * deleted.
   */
  addCrash({ id, fence, attempt }: Run, now: number): void {
    this.add({ id, fence, attempt }, "crashed", undefined, now);
    this.#sql.countCrash.run(attempt, fence, id);
  }

  /** Ends the runs of an earlier process. Called when the file is opened, while this process holds the lock. */
  recover(now: number): void {
    for (const run of this.#sql.leased.all()) this.addCrash(run, now);
    // If the clock was set back, every lane would otherwise wait longer by that amount.
    const ahead = (this.#sql.lastWrite.get()?.at ?? now) - now;
    if (ahead > 0) this.#sql.shift.run(ahead);
    this.restoreLanes(now, now);
  }

  /**
   * Writes what the rows of the lanes lack, because it was only in memory. Returns the number of lanes that wait again.
   *
   * @param dueAt lanes that are due by then are ordered anew, by their oldest event. Default: none
   */
  restoreLanes(now: number, dueAt = -1): number {
    this.#sql.enterLanes.run();
    this.#sql.restoreLanes.run();
    this.#sql.markLanes.run(String(now));
    return this.#sql.wake.run(now, dueAt).changes;
  }
}
