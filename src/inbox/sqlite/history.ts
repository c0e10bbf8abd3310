import type { Database, Statement } from "better-sqlite3";
import type { AttemptRecord } from "../records.ts";

type Parameters = [Record<string, unknown>];

/** What names a run: the fence of its claim. */
interface Run {
  readonly id: string;
  readonly fence: number;
  readonly attempt: number;
}

interface AttemptRow {
  readonly number: number;
  readonly outcome: AttemptRecord["outcome"];
  readonly error: string | null;
  readonly ended_at: number;
}

/** So many are kept of each event: an outage may put one off thousands of times. */
const KEPT = 50;

/** The runs that did not end well. Those that did leave no trace here, and cost nothing. */
export class History {
  readonly #add: Statement<Parameters>;
  readonly #trim: Statement<Parameters>;
  readonly #leased: Statement<[], Run>;
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
         ORDER BY ended_at DESC, fence DESC LIMIT -1 OFFSET ${KEPT})`,
    );
    // The join goes from the lanes to their events, of which the index has the pending ones.
    this.#leased = db.prepare(
      `SELECT event.id, lane.fence, event.attempts AS attempt
       FROM lane CROSS JOIN event ON event.lane = lane.key
       WHERE lane.owner IS NOT NULL AND event.state = 'pending' AND event.fence = lane.fence`,
    );
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
    for (const run of this.#leased.all()) this.add(run, "crashed", undefined, now);
  }

  /** Notes the last run of an event whose lane had no other since, unless it is known how it ended. */
  addLapsed(event: Omit<Run, "attempt"> & { readonly attempts: number }, now: number): void {
    const { id, fence, attempts } = event;
    if (this.#has.get({ id, fence }) !== undefined) return;
    this.add({ id, fence, attempt: attempts }, "crashed", undefined, now);
  }

  /** The oldest first. */
  of(id: string): AttemptRecord[] {
    return this.#of.all({ id }).map(({ number, outcome, error, ended_at }) => ({
      number,
      outcome,
      error: error ?? undefined,
      endedAt: ended_at,
    }));
  }
}
