import type { Database, Statement } from "better-sqlite3";
import type { Advance, Claim, ClaimRooms, Source } from "../inbox.ts";
import { CRASHES, SUSPECT_WAIT_MS } from "../limits.ts";
import type { History } from "./history.ts";
import { Suspects } from "./suspects.ts";

/**
 * In the order of the question marks: names would cost a quarter of what runs for each event. Those of conditions are
 * written `+?` wherever SQLite looks for an index of the events: it would plan the statement anew for each value, for
 * another one could fit another of the partial indexes, and that takes five times as long as the statement.
 */
type Parameters = (string | number | null)[];
type Write = Statement<Parameters>;
type Query<Row> = Statement<Parameters, Row>;

interface LaneRow {
  readonly key: string;
  readonly fence: number;
  readonly owner: string | null;
  readonly claimed: number | null;
  readonly done_ord: string | null;
}

/** A lane that is still held by a claim, and where the claim's event is in it. */
interface HeldRow {
  readonly ready_at: number;
  readonly done_ord: string | null;
  readonly seq: number;
  readonly ord: string;
}

interface HeadRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly ord: string;
  readonly source: Source;
  readonly attempts: number;
  readonly crashes: number;
  readonly received_at: number;
  readonly trace: string | null;
}

/** Guards every write of a claim: it changes nothing once the lease is somebody else's. */
const HELD = "lane.key = +? AND lane.owner = +? AND lane.fence = +?";

/** The way out: lanes are leased, and their first event is ended or put off. Runs inside a transaction. */
export class Lanes {
  readonly #owner: string;
  readonly #history: History;
  readonly #suspects: Suspects;
  readonly #recover: Write;
  readonly #lastWrite: Statement<[], { readonly at: number | null }>;
  readonly #shift: Write;
  readonly #wakeForgotten: Write;
  readonly #ready: Query<LaneRow>;
  readonly #readyWithin: Query<LaneRow>;
  readonly #lease: Write;
  readonly #head: Query<HeadRow>;
  readonly #countAttempt: Write;
  readonly #idle: Write;
  readonly #extend: Write;
  readonly #held: Query<{ readonly fence: number }>;
  readonly #find: Query<HeldRow>;
  readonly #done: Write;
  readonly #dead: Write;
  readonly #goOn: Write;
  readonly #letGo: Write;
  readonly #postpone: Write;
  readonly #putOff: Write;
  readonly #nextReady: Statement<[], { readonly ready_at: number | null }>;
  readonly #heal: Write;

  constructor(db: Database, owner: string, history: History) {
    this.#owner = owner;
    this.#history = history;
    this.#suspects = new Suspects((claim) => this.holds(claim));
    this.#recover = db.prepare(
      `UPDATE lane SET owner = NULL, fence = fence + 1, ready_at = ?
       WHERE ready_at IS NOT NULL AND owner IS NOT NULL`,
    );
    this.#lastWrite = db.prepare(
      `SELECT max(at) AS at FROM (
         SELECT (SELECT received_at FROM event ORDER BY seq DESC LIMIT 1) AS at
         UNION ALL SELECT max(done_at) FROM event WHERE state <> 'pending')`,
    );
    this.#shift = db.prepare("UPDATE lane SET ready_at = ready_at - ? WHERE ready_at IS NOT NULL");
    // In the order in which they came; not in the future, where the clock was set back since.
    this.#wakeForgotten = db.prepare(
      `INSERT INTO lane (key, pending, ready_at, fence)
       SELECT lane, count(*), min(min(received_at), ?), max(fence) FROM event
       WHERE state = 'pending' GROUP BY lane
       ON CONFLICT (key) DO UPDATE
         SET pending = excluded.pending, ready_at = coalesce(ready_at, excluded.ready_at)
         WHERE pending <> excluded.pending OR ready_at IS NULL`,
    );
    this.#ready = db.prepare(
      `SELECT key, fence, owner, claimed, done_ord FROM lane WHERE ready_at <= +? ORDER BY ready_at, key LIMIT +?`,
    );
    this.#readyWithin = db.prepare(
      `SELECT key, fence, owner, claimed, done_ord FROM lane
       WHERE ready_at <= +? AND coalesce((
         SELECT type FROM event WHERE event.lane = lane.key AND state = 'pending' ORDER BY ord, seq LIMIT 1
       ) NOT IN (SELECT value FROM json_each(+?)), true)
       ORDER BY ready_at, key LIMIT +?`,
    );
    this.#lease = db.prepare(
      "UPDATE lane SET owner = ?, fence = fence + 1, claimed = ?, ready_at = ? WHERE key = ?",
    );
    this.#head = db.prepare(
      `SELECT seq, id, type, body, ord, source, attempts, crashes, received_at, trace FROM event
       WHERE lane = +? AND state = 'pending' ORDER BY ord, seq LIMIT 1`,
    );
    this.#countAttempt = db.prepare(
      "UPDATE event SET attempts = attempts + 1, fence = ? WHERE seq = ? AND state = 'pending'",
    );
    this.#idle = db.prepare(
      "UPDATE lane SET pending = 0, ready_at = NULL, owner = NULL WHERE key = ?",
    );
    this.#extend = db.prepare(`UPDATE lane SET ready_at = ? WHERE ${HELD}`);
    this.#held = db.prepare(`SELECT fence FROM lane WHERE ${HELD}`);
    this.#find = db.prepare(
      `SELECT lane.ready_at, lane.done_ord, event.seq, event.ord FROM lane CROSS JOIN event ON event.seq = lane.claimed
       WHERE ${HELD}`,
    );
    const end = (outcome: string) =>
      db.prepare<Parameters>(
        `UPDATE event SET ${outcome}, done_at = ?, attempts = attempts + 1, fence = ? WHERE seq = ?`,
      );
    this.#done = end("state = 'done', error = NULL");
    this.#dead = end("state = 'dead', error = ?");
    this.#goOn = db.prepare(
      `UPDATE lane SET pending = pending - 1, fence = fence + 1, claimed = ?, done_at = ?,
         done_ord = max(coalesce(done_ord, ''), ?)
       WHERE key = ?`,
    );
    this.#letGo = db.prepare(
      `UPDATE lane SET pending = pending - 1, owner = NULL, ready_at = CASE WHEN pending > 1 THEN ? END,
         done_at = ?, done_ord = max(coalesce(done_ord, ''), ?)
       WHERE key = ?`,
    );
    this.#postpone = db.prepare(`UPDATE lane SET owner = NULL, ready_at = ? WHERE ${HELD}`);
    this.#putOff = db.prepare(
      "UPDATE event SET attempts = attempts + ?, fence = ?, error = coalesce(?, error) WHERE id = ?",
    );
    this.#nextReady = db.prepare(
      "SELECT min(ready_at) AS ready_at FROM lane WHERE ready_at IS NOT NULL",
    );
    this.#heal = db.prepare(
      `INSERT INTO lane (key, pending, ready_at)
       SELECT lane, count(*), ? FROM event WHERE state = 'pending' GROUP BY lane
       ON CONFLICT (key) DO UPDATE SET pending = excluded.pending, ready_at = excluded.ready_at
         WHERE lane.ready_at IS NULL`,
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
    if (by > 0) this.#shift.run(by);
    this.#recover.run(now);
    // Events that a process stored whose lanes it had not told of them when it was killed.
    this.#wakeForgotten.run(now);
  }

  claim(limit: number, leaseMs: number, now: number, rooms?: ClaimRooms): Claim[] {
    const lanes =
      rooms === undefined ? this.#ready.all(now, limit) : this.#findWithin(rooms, limit, now);
    // By their keys, whatever they waited for: it decides which suspect runs first.
    lanes.sort((a, b) => (a.key < b.key ? -1 : 1));
    const claims = lanes.flatMap((lane) => this.#take(lane, now + leaseMs, now) ?? []);
    // All are leased by now: a suspect whose own lease ran out holds up no other one.
    return claims.filter((claim) => {
      const waits = this.#suspects.mustWait(claim);
      if (waits) this.#close(claim, now + SUSPECT_WAIT_MS);
      return !waits;
    });
  }

  /** Ready lanes, as many of each type as there is room for. */
  #findWithin({ byType, others }: ClaimRooms, limit: number, now: number): LaneRow[] {
    const full = [...byType].flatMap(([type, room]) => (room <= 0 ? [type] : []));
    const left = new Map(byType);
    return this.#readyWithin.all(now, JSON.stringify(full), limit).filter(({ key }) => {
      const type = this.#head.get(key)?.type;
      // A lane without an event is taken, because that mends it.
      if (type === undefined) return true;
      const room = left.get(type) ?? others;
      left.set(type, room - 1);
      return room > 0;
    });
  }

  /** Leases a lane, and claims the event that stands first in it, if there is one. */
  #take(lane: LaneRow, until: number, now: number): Claim | undefined {
    const head = this.#head.get(lane.key);
    if (head === undefined) {
      this.#idle.run(lane.key);
      return undefined;
    }
    const lapsed = this.#countLapsed(lane, head, now);
    this.#lease.run(this.#owner, head.seq, until, lane.key);
    return toClaim(lane.key, lane.fence + 1, isLate(head, lane), head, lapsed);
  }

  extend(claims: readonly Claim[], leaseMs: number, now: number): Claim[] {
    const until = now + leaseMs;
    return claims.filter((claim) => this.#extend.run(until, ...this.#key(claim)).changes > 0);
  }

  /** True while the claim's lease has not been taken over. */
  holds(claim: Claim): boolean {
    return this.#held.get(...this.#key(claim)) !== undefined;
  }

  /** Ends the event as done, or as dead when there is an error, and lets the lane go on. */
  end(claim: Claim, now: number, error?: string): boolean {
    const held = this.#findHeld(claim);
    if (held === undefined) return false;
    if (error === undefined) this.#done.run(now, claim.fence, held.seq);
    else {
      this.#dead.run(error, now, claim.fence, held.seq);
      this.#history.add(claim, "dead", error, now);
    }
    this.#letGo.run(now, now, held.ord, claim.lane);
    return true;
  }

  /** Ends the event as done, and goes on with the next one of the lane under the same lease. */
  advance(claim: Claim, now: number): Advance {
    const held = this.#findHeld(claim);
    if (held === undefined) return { held: false };
    this.#done.run(now, claim.fence, held.seq);
    const head = this.#head.get(claim.lane);
    // A lease that has run out is nobody's to go on with; whether a suspect may run is decided by the claim of lanes.
    if (head === undefined || head.crashes >= CRASHES || held.ready_at <= now) {
      this.#letGo.run(now, now, held.ord, claim.lane);
      return { held: true };
    }
    this.#goOn.run(head.seq, now, held.ord, claim.lane);
    const late = isLate(head, held) || head.ord < held.ord;
    return { held: true, next: toClaim(claim.lane, claim.fence + 1, late, head, 0) };
  }

  /** Leaves the event for later and closes its lane until `at`. */
  retry(claim: Claim, at: number, error: string, now: number): boolean {
    if (!this.#close(claim, at)) return false;
    this.#putOff.run(1, claim.fence, error, claim.id);
    this.#history.add(claim, "failed", error, now);
    return true;
  }

  /** Like `retry`, and gives the attempt back to the event. Without an error it has not begun. */
  release(claim: Claim, at: number, error: string | undefined, now: number): boolean {
    if (!this.#close(claim, at)) return false;
    if (error === undefined) return true;
    this.#putOff.run(0, claim.fence, null, claim.id);
    this.#history.add(claim, "released", error, now);
    return true;
  }

  nextReadyAt(): number | undefined {
    return this.#nextReady.get()?.ready_at ?? undefined;
  }

  heal(now: number): number {
    return this.#heal.run(now).changes;
  }

  #findHeld(claim: Claim): HeldRow | undefined {
    return this.#find.get(...this.#key(claim));
  }

  /**
   * A lane that still has an owner although its time has come has lost its run without a word: the lease ran out.
   * Returns 1 where that was a run of this event.
   */
  #countLapsed({ fence, owner, claimed }: LaneRow, head: HeadRow, now: number): 0 | 1 {
    if (owner === null) return 0;
    if (claimed === head.seq) {
      this.#history.addCrash({ id: head.id, fence, attempt: head.attempts + 1 }, now);
      return 1;
    }
    this.#countAttempt.run(fence, claimed);
    return 0;
  }

  #close(claim: Claim, at: number): boolean {
    return this.#postpone.run(at, ...this.#key(claim)).changes > 0;
  }

  /** What {@link HELD} asks for. */
  #key({ lane, fence }: Claim): [lane: string, owner: string, fence: number] {
    return [lane, this.#owner, fence];
  }
}

/** Whether a later event of its lane is done. */
function isLate({ ord }: HeadRow, { done_ord }: Pick<LaneRow, "done_ord">): boolean {
  return done_ord !== null && ord < done_ord;
}

function toClaim(lane: string, fence: number, late: boolean, head: HeadRow, lapsed: 0 | 1): Claim {
  return {
    lane,
    fence,
    id: head.id,
    type: head.type,
    body: head.body,
    source: head.source,
    attempt: head.attempts + lapsed + 1,
    crashes: head.crashes + lapsed,
    late,
    receivedAt: head.received_at,
    trace: head.trace ?? undefined,
  };
}
