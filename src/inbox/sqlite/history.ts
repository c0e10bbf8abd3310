import type { Database } from "better-sqlite3";
import type { AttemptRecord } from "../event-records.ts";
import { MAX_HISTORY } from "../sql/sql-inbox.ts";
import { TextStatement } from "./text-statement.ts";

/** A run, identified by its claim's fence. */
interface Run {
  readonly id: string;
  readonly fence: number;
  readonly attempt: number;
}

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
  lastWrite: db.prepare<[], { readonly at: number | null }>(
    `SELECT max(at) AS at FROM (
       SELECT (SELECT received_at FROM event ORDER BY seq DESC LIMIT 1) AS at
       UNION ALL SELECT max(done_at) FROM event WHERE state <> 'pending')`,
  ),
  shift: db.prepare<[ms: number]>(
    "UPDATE lane SET ready_at = ready_at - ? WHERE ready_at IS NOT NULL",
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

  /** Ends the runs of an earlier process. Must be called through `Lanes.recover`, because their lanes must wake. */
  recover(now: number): void {
    for (const run of this.#sql.leased.all()) this.addCrash(run, now);
    // If the clock was set back, every lane would otherwise wait longer by that amount.
    const ahead = (this.#sql.lastWrite.get()?.at ?? now) - now;
    if (ahead > 0) this.#sql.shift.run(ahead);
  }
}
