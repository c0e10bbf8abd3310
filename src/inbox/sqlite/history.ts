import type { Database, Statement } from "better-sqlite3";
import { type AttemptRow, toAttempt } from "../event-rows.ts";
import { KEPT_RUNS } from "../limits.ts";
import type { AttemptRecord } from "../records.ts";

type Parameters = [Record<string, unknown>];

/** What names a run: the fence of its claim. */
interface Run {
  readonly id: string;
  readonly fence: number;
  readonly attempt: number;
}

/** The runs that did not end well. Those that did leave no trace here, and cost nothing. */
export class History {
  readonly #add: Statement<Parameters>;
  readonly #trim: Statement<Parameters>;
  readonly #leased: Statement<[], Run>;
  readonly #countCrash: Statement<Parameters>;
  readonly #of: Statement<Parameters, AttemptRow>;

  constructor(db: Database) {
    this.#add = db.prepare(
      `INSERT OR REPLACE INTO attempt (event_id, fence, number, outcome, error, ended_at)
       VALUES (@id, @fence, @attempt, @outcome, @error, @now)`,
    );
    this.#trim = db.prepare(
      `DELETE FROM attempt WHERE event_id = @id AND fence IN (
         SELECT fence FROM attempt WHERE event_id = @id
         ORDER BY ended_at DESC, fence DESC LIMIT -1 OFFSET ${KEPT_RUNS})`,
    );
    this.#leased = db.prepare(
      `SELECT event.id, lane.fence, event.attempts + 1 AS attempt
       FROM lane CROSS JOIN event ON event.seq = lane.claimed
       WHERE lane.ready_at IS NOT NULL AND lane.owner IS NOT NULL AND event.state = 'pending'`,
    );
    this.#countCrash = db.prepare(
      "UPDATE event SET attempts = @attempt, fence = @fence, crashes = crashes + 1 WHERE id = @id",
    );
    this.#of = db.prepare(
      `SELECT number, outcome, error, ended_at FROM attempt
       WHERE event_id = @id ORDER BY ended_at, fence`,
    );
  }

  add(
    { id, fence, attempt }: Run,
    outcome: AttemptRecord["outcome"],
    error: string | undefined,
    now: number,
  ): void {
    this.#add.run({ id, fence, attempt, outcome, error: error ?? null, now });
    this.#trim.run({ id });
  }

  /** Notes the runs that a process before this one has taken with it. */
  addCrashed(now: number): void {
    for (const run of this.#leased.all()) this.addCrash(run, now);
  }

  /**
   * Notes a run that never said how it ended. Counted on the event as well, for the history is cut short by an
   * outage.
   */
  addCrash({ id, fence, attempt }: Run, now: number): void {
    this.add({ id, fence, attempt }, "crashed", undefined, now);
    this.#countCrash.run({ id, fence, attempt });
  }

  /** The oldest first. */
  of(id: string): AttemptRecord[] {
    return this.#of.all({ id }).map(toAttempt);
  }
}
