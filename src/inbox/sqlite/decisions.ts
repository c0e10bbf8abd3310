import type { Database, Statement } from "better-sqlite3";
import type { InboxRetryFilter, InboxRetryOptions } from "../admin.ts";
import { lists, valuesOf } from "../event-rows.ts";
import { judgeDiscard, judgeRetry, NOT_FOUND, type Outcome } from "../outcome.ts";
import type { EventState } from "../records.ts";
import { ABSENT } from "../restored.ts";
import { FITS } from "./fits.ts";
import { MARK_ABSENT } from "./steps.ts";

type Parameters = [Record<string, unknown>];
type Write = Statement<Parameters>;

interface EventRow {
  readonly lane: string;
  readonly state: EventState;
  readonly fence: number;
  readonly has_body: number;
  /** Whether its lane's last claim was of this event and has not been given back. */
  readonly held: number | null;
  /** Whether that claim's lease still runs. */
  readonly leased: number | null;
  /** Whether nothing pending comes before it in its lane. */
  readonly first: number;
}

/** SQLite's word for no limit. */
const ALL = -1;

/** What people decide about events. Runs inside a transaction. */
export class Decisions {
  readonly #find: Statement<Parameters, EventRow>;
  readonly #revive: Write;
  readonly #enterLane: Write;
  readonly #leaveLane: Write;
  readonly #settleSteps: Write;
  readonly #dropSteps: Write;
  readonly #discard: Write;
  readonly #targets: Readonly<
    Record<"dead" | "pending", Statement<Parameters, { readonly id: string }>>
  >;

  constructor(db: Database) {
    this.#find = db.prepare(
      `SELECT event.lane, event.state, event.fence, event.body IS NOT NULL AS has_body,
         lane.owner IS NOT NULL AND lane.claimed = event.seq AS held,
         lane.owner IS NOT NULL AND lane.claimed = event.seq AND lane.ready_at > @now AS leased,
         NOT EXISTS (
           SELECT 1 FROM event AS other WHERE other.lane = event.lane AND other.state = 'pending'
             AND (other.ord, other.seq) < (event.ord, event.seq)) AS first
       FROM event LEFT JOIN lane ON lane.key = event.lane WHERE event.id = @id`,
    );
    // The fence of an earlier claim must not be taken for that of a claim to come.
    this.#revive = db.prepare(
      "UPDATE event SET state = 'pending', attempts = 0, crashes = 0, fence = 0, done_at = NULL WHERE id = @id",
    );
    // A lease is left alone. A wait is cut short for an event that comes first, not for one behind it.
    // 0 is at once, by whatever clock the bot goes: it may not be the one of whoever decides.
    // A lane may have been made anew since: its fences go on after those in the history of the event.
    this.#enterLane = db.prepare(
      `INSERT INTO lane (key, pending, ready_at, fence) VALUES (@lane, 1, 0, @fence)
       ON CONFLICT (key) DO UPDATE SET pending = pending + 1,
         fence = CASE WHEN owner IS NULL THEN max(fence, @fence) ELSE fence END,
         ready_at = CASE WHEN owner IS NULL AND @first THEN 0 ELSE coalesce(ready_at, 0) END`,
    );
    // A run whose lease ran out may still be at work: without an owner, its claim is good for nothing.
    // What waited for the event that is gone need not wait any more.
    this.#leaveLane = db.prepare(
      `UPDATE lane SET pending = pending - 1, done_at = @now,
         owner = CASE WHEN @held THEN NULL ELSE owner END,
         ready_at = CASE WHEN owner IS NOT NULL AND NOT @held THEN ready_at
                         WHEN pending <= 1 THEN NULL
                         WHEN @first THEN 0
                         ELSE ready_at END
       WHERE key = @lane`,
    );
    this.#settleSteps = db.prepare(
      `UPDATE step SET state = 'done', result = NULL
       WHERE event_id = @id AND state = 'open' AND fence <> ${ABSENT}`,
    );
    this.#dropSteps = db.prepare(`${MARK_ABSENT} AND event_id = @id`);
    // The attempt of a run whose lease ran out is not counted yet.
    this.#discard = db.prepare(
      `UPDATE event SET state = 'discarded', done_at = @now, reason = @reason, attempts = attempts + @held
       WHERE id = @id`,
    );
    const targets = ({ where, at }: (typeof lists)["dead"]) =>
      db.prepare<Parameters, { readonly id: string }>(
        `SELECT id FROM event WHERE ${where} AND ${FITS} AND ${at} >= @since AND ${at} < @until
         ORDER BY ${at}, seq LIMIT @limit`,
      );
    this.#targets = { dead: targets(lists.dead), pending: targets(lists.pending) };
  }

  /** The ids of the events that a filter means, the oldest first. */
  targets(state: "dead" | "pending", { limit = ALL, ...filter }: InboxRetryFilter): string[] {
    const rows = this.#targets[state].all({ ...valuesOf(filter), limit: Math.trunc(limit) });
    return rows.map(({ id }) => id);
  }

  retry(id: string, assume: InboxRetryOptions["assume"], now: number): Outcome {
    const event = this.#find.get({ id, now });
    if (event === undefined) return NOT_FOUND;
    const outcome = judgeRetry(event);
    if ("refused" in outcome) return outcome;
    this.#revive.run({ id });
    const { lane, first, fence } = event;
    this.#enterLane.run({ lane, first, fence, now });
    if (assume === "done") this.#settleSteps.run({ id });
    if (assume === "absent") this.#dropSteps.run({ id });
    return outcome;
  }

  discard(id: string, reason: string, now: number): Outcome {
    const event = this.#find.get({ id, now });
    if (event === undefined) return NOT_FOUND;
    const outcome = judgeDiscard(event);
    if ("refused" in outcome) return outcome;
    const { lane, state, first } = event;
    const held = state === "pending" ? (event.held ?? 0) : 0;
    this.#discard.run({ id, reason, held, now });
    if (state === "pending") this.#leaveLane.run({ lane, held, first, now });
    return outcome;
  }
}
