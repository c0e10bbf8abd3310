import type { Database } from "better-sqlite3";
import type { AttemptRecord } from "../records.ts";
import { MAX_HISTORY } from "../sql/crashes.ts";

type Values = [Readonly<Record<string, unknown>>];

/** A run, named by the fence of its claim. */
interface Run {
  readonly id: string;
  readonly fence: number;
  readonly attempt: number;
}

const statementsOf = (db: Database) => ({
  add: db.prepare<Values>(
    `INSERT OR REPLACE INTO attempt (event_id, fence, number, outcome, error, ended_at)
     VALUES (@id, @fence, @attempt, @outcome, @error, @now)`,
  ),
  trim: db.prepare<Values>(
    `DELETE FROM attempt WHERE event_id = @id AND fence IN (
       SELECT fence FROM attempt WHERE event_id = @id
       ORDER BY ended_at DESC, fence DESC LIMIT -1 OFFSET ${MAX_HISTORY})`,
  ),
  leased: db.prepare<[], Run>(
    `SELECT event.id, lane.fence, event.attempts + 1 AS attempt
     FROM lane CROSS JOIN event ON event.seq = lane.claimed
     WHERE lane.ready_at IS NOT NULL AND lane.owner IS NOT NULL AND event.state = 'pending'`,
  ),
  countCrash: db.prepare<Values>(
    "UPDATE event SET attempts = @attempt, fence = @fence, crashes = crashes + 1 WHERE id = @id",
  ),
});

/** Records runs that did not end well. Those that did leave nothing here, and cost nothing. */
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

  /** Adds the runs that an earlier process has taken with it. */
  addCrashed(now: number): void {
    for (const run of this.#sql.leased.all()) this.addCrash(run, now);
  }

  /** Adds a run that never recorded how it ended. Counted on the event as well: an outage cuts the history short. */
  addCrash({ id, fence, attempt }: Run, now: number): void {
    this.add({ id, fence, attempt }, "crashed", undefined, now);
    this.#sql.countCrash.run({ id, fence, attempt });
  }
}
