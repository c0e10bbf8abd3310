import type { Database } from "better-sqlite3";
import type { Effects } from "../effects.ts";
import type { Advance, Claim, ClaimRooms } from "../inbox.ts";
import { type HeadRow, SUSPECT_CRASHES, SUSPECT_WAIT_MS, toClaim } from "../sql/sql-inbox.ts";
import type { DirtyLanes, NewArrival } from "./dirty-lanes.ts";
import type { EffectWriter } from "./effects.ts";
import type { History } from "./history.ts";

/**
 * Values are bound by position, because binding by name would take a quarter of the time per event. Conditions that
 * could use an event index write a value as `+?`. Without the plus, SQLite plans the statement again for each value,
 * because the value could match a partial index. Planning takes five times as long as the statement itself.
 */
type Values = (string | number | null)[];

interface LaneRow {
  readonly key: string;
  readonly fence: number;
  readonly owner: string | null;
  readonly claimed: number | null;
  readonly done_ord: string | null;
  readonly pending: number;
}

interface PlacedRow extends HeadRow {
  readonly seq: number;
  readonly ord: string;
}

/** A claim in this store, with the position of its event. */
interface PlacedClaim extends Claim {
  readonly seq: number;
  readonly ord: string;
  /** Number of the lane's events at the time of the claim. More may have arrived since. */
  readonly pending: number;
}

/** Guards every write by a claim, so that nothing is written once another claim has the lane. */
const HELD = "lane.key = +? AND lane.owner = +? AND lane.fence = +?";

const LANE = "SELECT key, fence, owner, claimed, done_ord, pending FROM lane";

const HEAD = `SELECT seq, id, type, body, ord, source, attempts, crashes, received_at, trace FROM event
  WHERE lane = +? AND state = 'pending'`;

const DONE = "done_at = ?, done_ord = max(coalesce(done_ord, ''), ?)";

const ended = (change: string) =>
  `UPDATE event SET ${change}, done_at = ?, attempts = attempts + 1, fence = ? WHERE seq = ?`;

const statementsOf = (db: Database) => ({
  ready: db.prepare<Values, LaneRow>(
    `${LANE} WHERE ready_at <= +? ORDER BY ready_at, key LIMIT +?`,
  ),
  readyWithin: db.prepare<Values, LaneRow>(
    `${LANE} WHERE ready_at <= +? AND coalesce((
       SELECT type FROM event WHERE event.lane = lane.key AND state = 'pending' ORDER BY ord, seq LIMIT 1
     ) NOT IN (SELECT value FROM json_each(+?)), true)
     ORDER BY ready_at, key LIMIT +?`,
  ),
  lease: db.prepare<Values>(
    "UPDATE lane SET owner = ?, fence = fence + 1, claimed = ?, ready_at = ? WHERE key = ?",
  ),
  head: db.prepare<Values, PlacedRow>(`${HEAD} ORDER BY ord, seq LIMIT 1`),
  headBeside: db.prepare<Values, PlacedRow>(`${HEAD} AND seq <> ? ORDER BY ord, seq LIMIT 1`),
  countAttempt: db.prepare<Values>(
    "UPDATE event SET attempts = attempts + 1, fence = ? WHERE seq = ? AND state = 'pending'",
  ),
  idle: db.prepare<Values>(
    "UPDATE lane SET pending = 0, ready_at = NULL, owner = NULL WHERE key = ?",
  ),
  extend: db.prepare<Values>(`UPDATE lane SET ready_at = ? WHERE ${HELD}`),
  postpone: db.prepare<Values>(`UPDATE lane SET owner = NULL, ready_at = ? WHERE ${HELD}`),
  held: db.prepare<Values>(`SELECT 1 FROM lane WHERE ${HELD}`),
  add: db.prepare<Values>("INSERT INTO lane (key) VALUES (?) ON CONFLICT (key) DO NOTHING"),
  leaseIdle: db.prepare<Values, Pick<LaneRow, "fence" | "done_ord">>(
    `UPDATE lane SET pending = 1, owner = ?, fence = fence + 1, claimed = ?, ready_at = ?
     WHERE key = +? AND ready_at IS NULL RETURNING fence, done_ord`,
  ),
  nextReady: db.prepare<[], { readonly ready_at: number | null }>(
    "SELECT min(ready_at) AS ready_at FROM lane WHERE ready_at IS NOT NULL",
  ),
  heal: db.prepare<Values>(
    `INSERT INTO lane (key, pending, ready_at)
     SELECT lane, count(*), ? FROM event WHERE state = 'pending' GROUP BY lane
     ON CONFLICT (key) DO UPDATE SET pending = excluded.pending, ready_at = excluded.ready_at
       WHERE lane.ready_at IS NULL`,
  ),
  endDone: db.prepare<Values>(ended("state = 'done', error = NULL")),
  endDead: db.prepare<Values>(ended("state = 'dead', error = ?")),
  // An expired lease cannot continue.
  advance: db.prepare<Values, Pick<LaneRow, "done_ord">>(
    `UPDATE lane SET pending = pending - 1, fence = fence + 1, claimed = ?, ${DONE}
     WHERE ${HELD} AND ready_at > ? RETURNING done_ord`,
  ),
  letGoLast: db.prepare<Values>(
    `UPDATE lane SET pending = 0, owner = NULL, ready_at = NULL, ${DONE} WHERE ${HELD} AND pending = 1`,
  ),
  letGo: db.prepare<Values>(
    `UPDATE lane SET pending = pending - 1, owner = NULL, ready_at = CASE WHEN pending > 1 THEN ? END,
       ${DONE} WHERE ${HELD}`,
  ),
  countRun: db.prepare<Values>(
    "UPDATE event SET attempts = attempts + ?, fence = ?, error = coalesce(?, error) WHERE id = ?",
  ),
});

/**
 * Result of ending an event. `conflict` is true if a state has changed since the run read it, so nothing was written.
 */
export type Ending = "ended" | "lost" | "conflict";

export interface LanesOptions {
  /** Name under which this process owns leased lanes. */
  readonly owner: string;
  readonly history: History;
  readonly effects: EffectWriter;
  readonly dirtyLanes: DirtyLanes;
}

/**
 * Leases lanes with their first events, and ends the leases when runs end. Every method must be called inside a
 * transaction.
 */
export class Lanes {
  readonly #owner: string;
  readonly #history: History;
  readonly #effects: EffectWriter;
  readonly #dirtyLanes: DirtyLanes;
  readonly #sql: ReturnType<typeof statementsOf>;
  /** The last suspect that was allowed to run. */
  #runningSuspect: Claim | undefined;

  constructor(db: Database, { owner, history, effects, dirtyLanes }: LanesOptions) {
    this.#owner = owner;
    this.#history = history;
    this.#effects = effects;
    this.#dirtyLanes = dirtyLanes;
    this.#sql = statementsOf(db);
  }

  /** Claims waiting lanes first. A new event that finds its lane idle is claimed without reading it back. */
  claim(limit: number, leaseMs: number, now: number, rooms?: ClaimRooms): Claim[] {
    const until = now + leaseMs;
    const left = rooms && new RoomsLeft(rooms);
    this.#dirtyLanes.writeEarlier();
    const lanes =
      left === undefined ? this.#sql.ready.all(now, limit) : this.#findWithin(left, limit, now);
    // Sorted by key, because the order decides which suspect runs first.
    lanes.sort((a, b) => (a.key < b.key ? -1 : 1));
    const claims = lanes.flatMap((lane) => this.#lease(lane, until, now) ?? []);
    // By now every claimed lane is leased, so a suspect with an expired lease does not block another suspect.
    const begun = claims.filter((claim) => {
      const waits = this.#mustWait(claim);
      if (waits) this.#postpone(claim, now + SUSPECT_WAIT_MS);
      return !waits;
    });
    for (const arrived of this.#dirtyLanes.alone) {
      if (begun.length >= limit) break;
      if (left?.has(arrived.event.type) === false) continue;
      const claim = this.#leaseArrived(arrived, until);
      if (claim === undefined) continue;
      left?.take(claim.type);
      begun.push(claim);
    }
    return begun;
  }

  extend(claims: readonly Claim[], leaseMs: number, now: number): Claim[] {
    const until = now + leaseMs;
    return claims.filter((claim) => this.#sql.extend.run(until, ...this.#key(claim)).changes > 0);
  }

  /** Ends the event as done, or as a dead letter if there is an error. */
  end(claim: Claim, now: number, error?: string, effects?: Effects): Ending {
    const { seq } = claim as PlacedClaim;
    this.#dirtyLanes.write(claim.lane);
    const refusal = this.#writeEffects(claim, effects, now);
    if (refusal !== undefined) return refusal;
    if (!this.#letGo(claim, now)) return "lost";
    if (error === undefined) this.#sql.endDone.run(now, claim.fence, seq);
    else {
      this.#sql.endDead.run(error, now, claim.fence, seq);
      this.#history.add(claim, "dead", error, now);
    }
    return "ended";
  }

  /**
   * Ends the event and continues with the lane's next event. With `leaseMs`, continues with another lane if this lane
   * is empty.
   */
  advance(claim: Claim, now: number, effects?: Effects, leaseMs?: number): Advance | "conflict" {
    const { seq, pending } = claim as PlacedClaim;
    this.#dirtyLanes.write(claim.lane);
    const refusal = this.#writeEffects(claim, effects, now);
    if (refusal !== undefined) return refusal === "lost" ? { held: false } : refusal;
    const isLast = pending === 1 && this.#letGoLast(claim, now);
    const next = isLast ? undefined : this.#goOn(claim, now);
    if (!isLast && next === undefined && !this.#letGo(claim, now)) return { held: false };
    this.#sql.endDone.run(now, claim.fence, seq);
    return { held: true, next: next ?? this.#another(claim.type, now, leaseMs) };
  }

  retry(claim: Claim, now: number, delayMs: number, error: string): boolean {
    if (!this.#postpone(claim, now + delayMs)) return false;
    this.#sql.countRun.run(1, claim.fence, error, claim.id);
    this.#history.add(claim, "failed", error, now);
    return true;
  }

  release(claim: Claim, now: number, delayMs: number, error?: string): boolean {
    if (!this.#postpone(claim, now + delayMs)) return false;
    if (error === undefined) return true;
    this.#sql.countRun.run(0, claim.fence, null, claim.id);
    this.#history.add(claim, "released", error, now);
    return true;
  }

  nextReadyAt(): number | undefined {
    return this.#sql.nextReady.get()?.ready_at ?? undefined;
  }

  heal(now: number): number {
    return this.#sql.heal.run(now).changes;
  }

  /** Returns ready lanes, at most as many per event type as the type has capacity for. */
  #findWithin(left: RoomsLeft, limit: number, now: number): LaneRow[] {
    return this.#sql.readyWithin.all(now, JSON.stringify(left.full), limit).filter(({ key }) => {
      const type = this.#sql.head.get(key)?.type;
      // A lane without events is leased as well, because leasing it repairs its row.
      if (type === undefined) return true;
      const fits = left.has(type);
      left.take(type);
      return fits;
    });
  }

  #lease(lane: LaneRow, until: number, now: number): PlacedClaim | undefined {
    const head = this.#sql.head.get(lane.key);
    if (head !== undefined) return this.#leaseHead(lane, head, until, now);
    this.#sql.idle.run(lane.key);
    return undefined;
  }

  #leaseHead(lane: LaneRow, head: PlacedRow, until: number, now: number): PlacedClaim {
    const crashed = this.#countLapsed(lane, head, now);
    this.#sql.lease.run(this.#owner, head.seq, until, lane.key);
    const { key, fence, done_ord, pending } = lane;
    const at = { lane: key, fence: fence + 1, late: isLate(head.ord, done_ord), pending };
    if (crashed === 0) return placed(at, head);
    return placed(at, { ...head, attempts: head.attempts + 1, crashes: head.crashes + 1 });
  }

  /** Continues with the lane's next event. `undefined` if there is none or the lease has expired. */
  #goOn(claim: Claim, now: number): PlacedClaim | undefined {
    const { lane, fence, seq, ord, pending } = claim as PlacedClaim;
    const head = this.#sql.headBeside.get(lane, seq);
    // Leave a suspect to the lane's next claim, which decides whether it may run.
    if (head === undefined || head.crashes >= SUSPECT_CRASHES) return undefined;
    const row = this.#sql.advance.get(head.seq, now, ord, ...this.#key(claim), now);
    if (row === undefined) return undefined;
    const late = isLate(head.ord, row.done_ord);
    return placed({ lane, fence: fence + 1, late, pending: pending - 1 }, head);
  }

  /**
   * Leases the lane that has waited longest, or otherwise a new event's lane. The event must have this type, because
   * the caller has a free slot for this type only. Suspects are left to the next claim.
   */
  #another(type: string, now: number, leaseMs: number | undefined): PlacedClaim | undefined {
    if (leaseMs === undefined) return undefined;
    this.#dirtyLanes.writeEarlier();
    const ready = this.#sql.ready.get(now, 1);
    if (ready !== undefined) {
      const head = this.#sql.head.get(ready.key);
      const isFit = head?.type === type && head.crashes + 1 < SUSPECT_CRASHES;
      return isFit ? this.#leaseHead(ready, head, now + leaseMs, now) : undefined;
    }
    for (const arrived of this.#dirtyLanes.alone) {
      if (arrived.event.type !== type) continue;
      const claim = this.#leaseArrived(arrived, now + leaseMs);
      if (claim !== undefined) return claim;
    }
    return undefined;
  }

  /**
   * Leases a new event's lane. If the lane is leased or waits, its row is written instead, so that the event is tried
   * only once.
   */
  #leaseArrived({ seq, event, source, trace, at }: NewArrival, until: number) {
    const { id, lane, ord, type, body } = event;
    const lease = () => this.#sql.leaseIdle.get(this.#owner, seq, until, lane);
    let row = lease();
    if (row === undefined && this.#sql.add.run(lane).changes > 0) row = lease();
    if (row === undefined) {
      this.#dirtyLanes.write(lane);
      return undefined;
    }
    this.#dirtyLanes.take(lane);
    const leased = { lane, fence: row.fence, late: isLate(ord, row.done_ord), pending: 1 };
    const head = { id, type, body, source, trace, attempts: 0, crashes: 0, received_at: at };
    return placed(leased, { ...head, seq, ord });
  }

  /** Ends the lease of a lane without other events. Returns false if there are other events or the lease was lost. */
  #letGoLast(claim: Claim, now: number): boolean {
    const { ord } = claim as PlacedClaim;
    return this.#sql.letGoLast.run(now, ord, ...this.#key(claim)).changes > 0;
  }

  /** Ends the lease, and makes the lane ready if it has more events. Returns false if the lease was lost. */
  #letGo(claim: Claim, now: number): boolean {
    const { ord } = claim as PlacedClaim;
    return this.#sql.letGo.run(now, now, ord, ...this.#key(claim)).changes > 0;
  }

  /** Returns why the event cannot end. `undefined` if it can. */
  #writeEffects(
    claim: Claim,
    effects: Effects | undefined,
    now: number,
  ): "lost" | "conflict" | undefined {
    if (effects === undefined) return undefined;
    if (!this.#holds(claim)) return "lost";
    return this.#effects.write(effects, claim, now) ? undefined : "conflict";
  }

  /**
   * Counts a run whose lease has expired. Its lane is ready but still has an owner. Returns 1 if the run was handling
   * this event.
   */
  #countLapsed({ fence, owner, claimed }: LaneRow, head: PlacedRow, now: number): 0 | 1 {
    if (owner === null) return 0;
    if (claimed === head.seq) {
      this.#history.addCrash({ id: head.id, fence, attempt: head.attempts + 1 }, now);
      return 1;
    }
    this.#sql.countAttempt.run(fence, claimed);
    return 0;
  }

  /**
   * Returns whether a suspect must wait. Suspects run one at a time, so that the event that crashes the process becomes
   * a dead letter alone.
   */
  #mustWait(claim: Claim): boolean {
    if (claim.crashes < SUSPECT_CRASHES) return false;
    if (this.#runningSuspect !== undefined && this.#holds(this.#runningSuspect)) return true;
    this.#runningSuspect = claim;
    return false;
  }

  /** Ends the lease and delays the lane until a time. Returns false if the lease was lost. */
  #postpone(claim: Claim, until: number): boolean {
    return this.#sql.postpone.run(until, ...this.#key(claim)).changes > 0;
  }

  /** Returns whether the claim still has its lane. */
  #holds(claim: Claim): boolean {
    return this.#sql.held.get(...this.#key(claim)) !== undefined;
  }

  /** The values of {@link HELD}. */
  #key({ lane, fence }: Claim): [lane: string, owner: string, fence: number] {
    return [lane, this.#owner, fence];
  }
}

/** How many events of each type a claim may still take. */
class RoomsLeft {
  readonly #byType: Map<string, number>;
  readonly #others: number;

  constructor({ byType, others }: ClaimRooms) {
    this.#byType = new Map(byType);
    this.#others = others;
  }

  /** Types without capacity. */
  get full(): string[] {
    return [...this.#byType].flatMap(([type, room]) => (room <= 0 ? [type] : []));
  }

  has(type: string): boolean {
    return this.#of(type) > 0;
  }

  take(type: string): void {
    this.#byType.set(type, this.#of(type) - 1);
  }

  #of(type: string): number {
    return this.#byType.get(type) ?? this.#others;
  }
}

function placed(
  at: Pick<PlacedClaim, "lane" | "fence" | "late" | "pending">,
  head: PlacedRow,
): PlacedClaim {
  return { ...toClaim(at, head), seq: head.seq, ord: head.ord, pending: at.pending };
}

/** Returns whether a later event of the lane is done. Events without an order are never late. */
function isLate(ord: string, doneOrd: string | null): boolean {
  return ord !== "" && doneOrd !== null && ord < doneOrd;
}
