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
  readonly #has: Statement<Parameters, { readonly fence: number }>;
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
    // The join goes from the lanes to their events, of which the index has the pending ones.
    this.#leased = db.prepare(
      `SELECT event.id, lane.fence, event.attempts AS attempt
       FROM lane CROSS JOIN event ON event.lane = lane.key
       WHERE lane.ready_at IS NOT NULL AND lane.owner IS NOT NULL
         AND event.state = 'pending' AND event.fence = lane.fence`,
    );
    this.#countCrash = db.prepare("UPDATE event SET crashes = crashes + 1 WHERE id = @id");
    this.#has = db.prepare("SELECT fence FROM attempt WHERE event_id = @id AND fence = @fence");
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
    for (const run of this.#leased.all()) this.#addCrash(run, now);
  }

  /**
   * Notes the last run of an event whose lane had no other since, unless it is known how it ended.
   * Returns how many there were.
   */
  addLapsed(event: Omit<Run, "attempt"> & { readonly attempts: number }, now: number): 0 | 1 {
    const { id, fence, attempts } = event;
    if (this.#has.get({ id, fence }) !== undefined) return 0;
    this.#addCrash({ id, fence, attempt: attempts }, now);
    return 1;
  }

  /** Counted on the event as well, for the history is cut short by an outage. */
  #addCrash(run: Run, now: number): void {
    this.add(run, "crashed", undefined, now);
    this.#countCrash.run({ id: run.id });
  }

  /** The oldest first. */
  of(id: string): AttemptRecord[] {
    return this.#of.all({ id }).map(toAttempt);
  }
}
