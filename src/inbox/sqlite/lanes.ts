import type { Database, Statement } from "better-sqlite3";
import type { Claim, Source } from "../inbox.ts";

type Parameters = [Record<string, unknown>];
type Write = Statement<Parameters>;
type Query<Row> = Statement<Parameters, Row>;

interface LaneRow {
  readonly key: string;
  readonly fence: number;
  readonly done_ord: string | null;
}

interface HeadRow {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly ord: string;
  readonly source: Source;
  readonly attempts: number;
  readonly received_at: number;
}

/** Guards every write of a claim: it changes nothing once the lease is somebody else's. */
const HELD = "key = @lane AND owner = @owner AND fence = @fence";

/** The way out: lanes are leased, and their first event is ended or put off. Runs inside a transaction. */
export class Lanes {
  readonly #owner: string;
  readonly #recover: Write;
  readonly #lease: Query<LaneRow>;
  readonly #head: Query<HeadRow>;
  readonly #countAttempt: Write;
  readonly #idle: Write;
  readonly #extend: Write;
  readonly #held: Query<{ readonly fence: number }>;
  readonly #advance: Write;
  readonly #postpone: Write;
  readonly #end: Write;
  readonly #putOff: Write;
  readonly #nextReady: Statement<[], { readonly ready_at: number | null }>;
  readonly #heal: Write;

  constructor(db: Database, owner: string) {
    this.#owner = owner;
    this.#recover = db.prepare(
      "UPDATE lane SET owner = NULL, fence = fence + 1, ready_at = @now WHERE owner IS NOT NULL",
    );
    this.#lease = db.prepare(
      `UPDATE lane SET owner = @owner, fence = fence + 1, ready_at = @until
       WHERE key IN (SELECT key FROM lane WHERE ready_at <= @now ORDER BY ready_at LIMIT @limit)
       RETURNING key, fence, done_ord`,
    );
    this.#head = db.prepare(
      `SELECT id, type, body, ord, source, attempts, received_at FROM event
       WHERE lane = @lane AND state = 'pending' ORDER BY ord, seq LIMIT 1`,
    );
    this.#countAttempt = db.prepare("UPDATE event SET attempts = attempts + 1 WHERE id = @id");
    this.#idle = db.prepare(
      "UPDATE lane SET pending = 0, ready_at = NULL, owner = NULL WHERE key = @lane",
    );
    this.#extend = db.prepare(`UPDATE lane SET ready_at = @until WHERE ${HELD}`);
    this.#held = db.prepare(`SELECT fence FROM lane WHERE ${HELD}`);
    this.#advance = db.prepare(
      `UPDATE lane SET pending = pending - 1, owner = NULL,
         ready_at = CASE WHEN pending > 1 THEN @now END,
         done_ord = max(coalesce(done_ord, ''), (SELECT ord FROM event WHERE id = @id))
       WHERE ${HELD}`,
    );
    this.#postpone = db.prepare(`UPDATE lane SET owner = NULL, ready_at = @at WHERE ${HELD}`);
    this.#end = db.prepare(
      "UPDATE event SET state = @state, done_at = @now, error = @error WHERE id = @id",
    );
    this.#putOff = db.prepare(
      "UPDATE event SET attempts = attempts - @back, error = coalesce(@error, error) WHERE id = @id",
    );
    this.#nextReady = db.prepare("SELECT min(ready_at) AS ready_at FROM lane");
    this.#heal = db.prepare(
      `UPDATE lane SET ready_at = @now, pending = counted.n
       FROM (SELECT lane, count(*) AS n FROM event WHERE state = 'pending' GROUP BY lane) AS counted
       WHERE lane.key = counted.lane AND lane.ready_at IS NULL`,
    );
  }

  /**
   * Ends the leases that are left from a process before this one: the file has one process at a time,
   * so whoever held them is gone.
   */
  recover(now: number): void {
    this.#recover.run({ now });
  }

  claim(limit: number, leaseMs: number, now: number): Claim[] {
    const claims: Claim[] = [];
    const lanes = this.#lease.all({ owner: this.#owner, until: now + leaseMs, now, limit });
    for (const lane of lanes) {
      const head = this.#head.get({ lane: lane.key });
      if (head === undefined) {
        this.#idle.run({ lane: lane.key });
        continue;
      }
      this.#countAttempt.run({ id: head.id });
      claims.push(toClaim(lane, head));
    }
    return claims;
  }

  extend(claims: readonly Claim[], leaseMs: number, now: number): Claim[] {
    const until = now + leaseMs;
    return claims.filter((claim) => this.#extend.run({ ...this.#key(claim), until }).changes > 0);
  }

  /** True while the claim's lease has not been taken over. */
  holds(claim: Claim): boolean {
    return this.#held.get(this.#key(claim)) !== undefined;
  }

  /** Ends the event as done, or as dead when there is an error, and lets the lane go on. */
  end(claim: Claim, now: number, error?: string): boolean {
    const { id } = claim;
    if (this.#advance.run({ ...this.#key(claim), now, id }).changes === 0) return false;
    const state = error === undefined ? "done" : "dead";
    this.#end.run({ id, now, state, error: error ?? null });
    return true;
  }

  /** Closes the lane until `at`; `back` attempts are given back to the event. */
  postpone(claim: Claim, at: number, back: 0 | 1, error?: string): boolean {
    if (this.#postpone.run({ ...this.#key(claim), at }).changes === 0) return false;
    this.#putOff.run({ id: claim.id, back, error: error ?? null });
    return true;
  }

  nextReadyAt(): number | undefined {
    return this.#nextReady.get()?.ready_at ?? undefined;
  }

  heal(now: number): number {
    return this.#heal.run({ now }).changes;
  }

  #key(claim: Claim): { lane: string; owner: string; fence: number } {
    return { lane: claim.lane, owner: this.#owner, fence: claim.fence };
  }
}

function toClaim(lane: LaneRow, head: HeadRow): Claim {
  return {
    lane: lane.key,
    fence: lane.fence,
    id: head.id,
    type: head.type,
    body: head.body,
    source: head.source,
    attempt: head.attempts + 1,
    late: lane.done_ord !== null && head.ord < lane.done_ord,
    receivedAt: head.received_at,
  };
}
