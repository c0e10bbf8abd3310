import type { Database, Statement } from "better-sqlite3";
import type { Advance, Claim, Source } from "../inbox.ts";
import { CRASHES, SUSPECT_WAIT_MS } from "../limits.ts";
import type { History } from "./history.ts";
import { Suspects } from "./suspects.ts";

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
  readonly crashes: number;
  readonly fence: number;
  readonly received_at: number;
}

/** Guards every write of a claim: it changes nothing once the lease is somebody else's. */
const HELD = "key = @lane AND owner = @owner AND fence = @fence";

/** The way out: lanes are leased, and their first event is ended or put off. Runs inside a transaction. */
export class Lanes {
  readonly #owner: string;
  readonly #history: History;
  readonly #suspects: Suspects;
  readonly #recover: Write;
  readonly #lastWrite: Statement<[], { readonly at: number | null }>;
  readonly #shift: Write;
  readonly #lease: Query<LaneRow>;
  readonly #lane: Query<{ readonly ready_at: number }>;
  readonly #again: Query<LaneRow>;
  readonly #head: Query<HeadRow>;
  readonly #countAttempt: Write;
  readonly #idle: Write;
  readonly #extend: Write;
  readonly #held: Query<{ readonly fence: number }>;
  readonly #advance: Write;
  readonly #postpone: Write;
  readonly #end: Write;
  readonly #putOff: Write;
  readonly #handBack: Write;
  readonly #nextReady: Statement<[], { readonly ready_at: number | null }>;
  readonly #heal: Write;

  constructor(db: Database, owner: string, history: History) {
    this.#owner = owner;
    this.#history = history;
    this.#suspects = new Suspects((claim) => this.holds(claim));
    this.#recover = db.prepare(
      `UPDATE lane SET owner = NULL, fence = fence + 1, ready_at = @now
       WHERE ready_at IS NOT NULL AND owner IS NOT NULL`,
    );
    this.#lastWrite = db.prepare(
      `SELECT max(at) AS at FROM (
         SELECT (SELECT received_at FROM event ORDER BY seq DESC LIMIT 1) AS at
         UNION ALL SELECT max(done_at) FROM event WHERE state <> 'pending')`,
    );
    this.#shift = db.prepare(
      "UPDATE lane SET ready_at = ready_at - @by WHERE ready_at IS NOT NULL",
    );
    this.#lease = db.prepare(
      `UPDATE lane SET owner = @owner, fence = fence + 1, ready_at = @until
       WHERE key IN (SELECT key FROM lane WHERE ready_at <= @now ORDER BY ready_at, key LIMIT @limit)
       RETURNING key, fence, done_ord`,
    );
    this.#lane = db.prepare(`SELECT ready_at FROM lane WHERE ${HELD}`);
    this.#again = db.prepare(
      `UPDATE lane SET owner = @owner, fence = fence + 1, ready_at = @until WHERE key = @lane
       RETURNING key, fence, done_ord`,
    );
    this.#head = db.prepare(
      `SELECT id, type, body, ord, source, attempts, crashes, fence, received_at FROM event
       WHERE lane = @lane AND state = 'pending' ORDER BY ord, seq LIMIT 1`,
    );
    this.#countAttempt = db.prepare(
      "UPDATE event SET attempts = attempts + 1, fence = @fence WHERE id = @id",
    );
    this.#idle = db.prepare(
      "UPDATE lane SET pending = 0, ready_at = NULL, owner = NULL WHERE key = @lane",
    );
    this.#extend = db.prepare(`UPDATE lane SET ready_at = @until WHERE ${HELD}`);
    this.#held = db.prepare(`SELECT fence FROM lane WHERE ${HELD}`);
    this.#advance = db.prepare(
      `UPDATE lane SET pending = pending - 1, owner = NULL,
         ready_at = CASE WHEN pending > 1 THEN @now END,
         done_at = @now, done_ord = max(coalesce(done_ord, ''), (SELECT ord FROM event WHERE id = @id))
       WHERE ${HELD}`,
    );
    this.#postpone = db.prepare(`UPDATE lane SET owner = NULL, ready_at = @at WHERE ${HELD}`);
    this.#end = db.prepare(
      "UPDATE event SET state = @state, done_at = @now, error = @error WHERE id = @id",
    );
    this.#putOff = db.prepare(
      "UPDATE event SET attempts = attempts - @back, error = coalesce(@error, error) WHERE id = @id",
    );
    // Without the fence of its claim there is no run of which the next claim would say that it has lapsed.
    this.#handBack = db.prepare(
      "UPDATE event SET attempts = attempts - 1, fence = 0 WHERE id = @id",
    );
    this.#nextReady = db.prepare(
      "SELECT min(ready_at) AS ready_at FROM lane WHERE ready_at IS NOT NULL",
    );
    this.#heal = db.prepare(
      `UPDATE lane SET ready_at = @now, pending = counted.n
       FROM (SELECT lane, count(*) AS n FROM event WHERE state = 'pending' GROUP BY lane) AS counted
       WHERE lane.key = counted.lane AND lane.ready_at IS NULL`,
    );
  }

  /**
   * Ends the leases that are left from a process before this one: the file has one process at a time,
   * so whoever held them is gone. Runs once, when the file is opened.
   */
  recover(now: number): void {
    this.#history.addCrashed(now);
    // A clock that was set back since would let what waits wait for that much longer.
    const by = (this.#lastWrite.get()?.at ?? now) - now;
    if (by > 0) this.#shift.run({ by });
    this.#recover.run({ now });
  }

  claim(limit: number, leaseMs: number, now: number): Claim[] {
    const claims: Claim[] = [];
    const lanes = this.#lease.all({ owner: this.#owner, until: now + leaseMs, now, limit });
    // The order of what an UPDATE returns is undefined, and it decides which suspect runs first.
    lanes.sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const lane of lanes) {
      const head = this.#head.get({ lane: lane.key });
      if (head === undefined) {
        this.#idle.run({ lane: lane.key });
        continue;
      }
      // Its last run ended without a word: the lease ran out.
      const lapsed =
        head.fence > 0 && head.fence === lane.fence - 1 ? this.#history.addLapsed(head, now) : 0;
      const claim = toClaim(lane, head, lapsed);
      if (this.#suspects.mustWait(claim)) {
        this.#close(claim, now + SUSPECT_WAIT_MS);
        continue;
      }
      this.#countAttempt.run({ id: head.id, fence: lane.fence });
      claims.push(claim);
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
    if (error !== undefined) this.#history.add(claim, "dead", error, now);
    return true;
  }

  /** Ends the event as done, and goes on with the next one of the lane under the same lease. */
  advance(claim: Claim, now: number): Advance {
    const lease = this.#lane.get(this.#key(claim));
    if (lease === undefined) return { held: false };
    this.end(claim, now);
    const head = this.#head.get({ lane: claim.lane });
    // A lease that has run out is nobody's to go on with; whether a suspect may run is decided by the claim of lanes.
    if (head === undefined || head.crashes >= CRASHES || lease.ready_at <= now)
      return { held: true };
    const lane = this.#again.get({ lane: claim.lane, owner: this.#owner, until: lease.ready_at });
    if (lane === undefined) return { held: true };
    this.#countAttempt.run({ id: head.id, fence: lane.fence });
    return { held: true, next: toClaim(lane, head, 0) };
  }

  /** Leaves the event for later and closes its lane until `at`. */
  retry(claim: Claim, at: number, error: string, now: number): boolean {
    if (!this.#close(claim, at)) return false;
    this.#putOff.run({ id: claim.id, back: 0, error });
    this.#history.add(claim, "failed", error, now);
    return true;
  }

  /** Like `retry`, and gives the attempt back to the event. Without an error it has not begun. */
  release(claim: Claim, at: number, error: string | undefined, now: number): boolean {
    if (!this.#close(claim, at)) return false;
    const { id } = claim;
    if (error === undefined) {
      this.#handBack.run({ id });
      return true;
    }
    this.#putOff.run({ id, back: 1, error: null });
    this.#history.add(claim, "released", error, now);
    return true;
  }

  nextReadyAt(): number | undefined {
    return this.#nextReady.get()?.ready_at ?? undefined;
  }

  heal(now: number): number {
    return this.#heal.run({ now }).changes;
  }

  #close(claim: Claim, at: number): boolean {
    return this.#postpone.run({ ...this.#key(claim), at }).changes > 0;
  }

  #key(claim: Claim): { lane: string; owner: string; fence: number } {
    return { lane: claim.lane, owner: this.#owner, fence: claim.fence };
  }
}

function toClaim(lane: LaneRow, head: HeadRow, lapsed: 0 | 1): Claim {
  return {
    lane: lane.key,
    fence: lane.fence,
    id: head.id,
    type: head.type,
    body: head.body,
    source: head.source,
    attempt: head.attempts + 1,
    crashes: head.crashes + lapsed,
    late: lane.done_ord !== null && head.ord < lane.done_ord,
    receivedAt: head.received_at,
  };
}
