import type { Database } from "better-sqlite3";
import type { AttemptRecord } from "../admin.ts";
import { MAX_HISTORY } from "../sql/sql-inbox.ts";

type NamedValues = [Readonly<Record<string, unknown>>];

/** A run, identified by its claim's fence. */
interface Run {
  readonly id: string;
  readonly fence: number;
  readonly attempt: number;
}

const statementsOf = (db: Database) => ({
  add: db.prepare<NamedValues>(
    `INSERT OR REPLACE INTO attempt (event_id, fence, number, outcome, error, ended_at)
     VALUES (@id, @fence, @attempt, @outcome, @error, @now)`,
  ),
  trim: db.prepare<NamedValues>(
    `DELETE FROM attempt WHERE event_id = @id AND fence IN (
       SELECT fence FROM attempt WHERE event_id = @id
       ORDER BY ended_at DESC, fence DESC LIMIT -1 OFFSET ${MAX_HISTORY})`,
  ),
  leased: db.prepare<[], Run>(
    `SELECT event.id, lane.fence, event.attempts + 1 AS attempt
     FROM lane CROSS JOIN event ON event.seq = lane.claimed
     WHERE lane.ready_at IS NOT NULL AND lane.owner IS NOT NULL AND event.state = 'pending'`,
  ),
  free: db.prepare<[now: number]>(
    `UPDATE lane SET owner = NULL, fence = fence + 1, ready_at = ?
     WHERE ready_at IS NOT NULL AND owner IS NOT NULL`,
  ),
  lastWrite: db.prepare<[], { readonly at: number | null }>(
    `SELECT max(at) AS at FROM (
       SELECT (SELECT received_at FROM event ORDER BY seq DESC LIMIT 1) AS at
       UNION ALL SELECT max(done_at) FROM event WHERE state <> 'pending')`,
  ),
  shift: db.prepare<[ms: number]>(
    "UPDATE lane SET ready_at = ready_at - ? WHERE ready_at IS NOT NULL",
  ),
  // Orders lanes by their oldest event. The time is never in the future, even if the clock was set back.
  recount: db.prepare<[now: number]>(
    `INSERT INTO lane (key, pending, ready_at, fence)
     SELECT lane, count(*), min(min(received_at), ?), max(fence) FROM event
     WHERE state = 'pending' GROUP BY lane
     ON CONFLICT (key) DO UPDATE
       SET pending = excluded.pending, ready_at = coalesce(ready_at, excluded.ready_at)
       WHERE pending <> excluded.pending OR ready_at IS NULL`,
  ),
  countCrash: db.prepare<NamedValues>(
    "UPDATE event SET attempts = @attempt, fence = @fence, crashes = crashes + 1 WHERE id = @id",
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
    this.#sql.add.run({ id, fence, attempt, outcome, error: error ?? null, now });
    this.#sql.trim.run({ id });
  }

  /**
   * Records a run that ended without an outcome. The event's row counts the run as well, because old history is
   * deleted.
   */
  addCrash({ id, fence, attempt }: Run, now: number): void {
    this.add({ id, fence, attempt }, "crashed", undefined, now);
    this.#sql.countCrash.run({ id, fence, attempt });
  }
  /**
   * Ends the runs and leases of an earlier process, and recounts the events in each lane. Called when the file is
   * opened, while this process holds the lock.
   */
  recover(now: number): void {
    for (const run of this.#sql.leased.all()) this.addCrash(run, now);
    // If the clock was set back, every lane would otherwise wait longer by that amount.
    const ahead = (this.#sql.lastWrite.get()?.at ?? now) - now;
    if (ahead > 0) this.#sql.shift.run(ahead);
    this.#sql.free.run(now);
    // A killed process may not have written the lane rows of its last events.
    this.#sql.recount.run(now);
  }
}
