import type { Database } from "better-sqlite3";
import type { Clock } from "../../core/clock.ts";
import type { Advance, Claim, ClaimRooms, NewEvent } from "../inbox.ts";
import { type HowEnded, SUSPECT_CRASHES, SUSPECT_WAIT_MS } from "../sql/sql-inbox.ts";
import { Demand, Demands, RoomsLeft, takeSlot } from "./demands.ts";
import type { EffectWriter } from "./effects.ts";
import { Fences } from "./fences.ts";
import type { TransactionMemory } from "./group-commit.ts";
import type { History } from "./history.ts";
import {
  type Lane,
  LaneMemory,
  type NewArrival,
  PlacedClaim,
  type PlacedRow,
} from "./lane-memory.ts";
import { type ReadyLane, ReadyLanes, rowOf } from "./ready-lanes.ts";
import { packList, TextStatement } from "./text-statement.ts";

/**
 * Values are bound by position, because binding by name would take a quarter of the time per event. Conditions that
 * could use an event index write a value as `+?`. Without the plus, SQLite plans the statement again for each value,
 * because the value could match a partial index. Planning takes five times as long as the statement itself. No
 * statement for each event has a RETURNING clause, because SQLite stores its rows in a temporary table first.
 */
type Values = (string | number | null)[];

/** Result of a run's end. `conflict`: a state has changed since the run read it, so nothing was written. */
export type Ending = "ended" | "lost" | "conflict";

/** Result of ending an event as done and continuing its lane. */
class LaneAdvance implements Advance {
  readonly held: boolean;
  readonly #claims: readonly PlacedClaim[];

  /** @param claims complete once the transaction's new events are stored */
  constructor(held: boolean, claims: readonly PlacedClaim[] = []) {
    this.held = held;
    this.#claims = claims;
  }

  get next(): PlacedClaim | undefined {
    return this.#claims[0];
  }
}

/** Guards every write of a run. Nothing is written once another run has the event, or an operator has discarded it. */
const RUNNING = "seq = ? AND fence = ? AND leased_until IS NOT NULL AND state = 'pending'";

const stop = (change: string) =>
  `UPDATE event SET ${change}, attempts = attempts + ?, leased_until = NULL WHERE ${RUNNING}`;

const statementsOf = (db: Database) => ({
  hasPending: new TextStatement<[lane: string]>(
    db,
    "SELECT 1 FROM event WHERE lane = +? AND state = 'pending' LIMIT 1",
  ),
  isRunning: db.prepare<Values>(`SELECT 1 FROM event WHERE ${RUNNING}`),
  begin: db.prepare<Values>(
    "UPDATE event SET fence = ?, leased_until = ?, begun_at = ? WHERE seq = ? AND state = 'pending'",
  ),
  extend: db.prepare<Values>(`UPDATE event SET leased_until = ? WHERE ${RUNNING}`),
  endDone: db.prepare<Values>(stop("state = 'done', error = NULL, done_at = ?")),
  endSkipped: new TextStatement<Values>(
    db,
    stop("state = 'done', error = NULL, reason = ?, done_at = ?"),
  ),
  endDead: new TextStatement<Values>(db, stop("state = 'dead', error = ?, done_at = ?")),
  stop: new TextStatement<Values>(db, stop("error = coalesce(?, error)")),
  heal: db.prepare<Values>(
    `INSERT INTO lane (key, ready_at)
     SELECT DISTINCT lane, ? FROM event
     WHERE state = 'pending' AND lane NOT IN (SELECT value FROM json_each(?))
     ON CONFLICT (key) DO UPDATE SET ready_at = excluded.ready_at WHERE lane.ready_at IS NULL`,
  ),
});

export interface LaneLeasesOptions {
  readonly history: History;
  readonly effects: EffectWriter;
  readonly clock: Clock;
}

/**
 * Leases lanes with their first events, and ends the leases when runs end. Every method that changes anything must be
 * called inside a transaction. The row of a running event names its run, so that the next start can count a crash.
 */
export class LaneLeases implements TransactionMemory {
  readonly #history: History;
  readonly #effects: EffectWriter;
  readonly #clock: Clock;
  readonly #sql: ReturnType<typeof statementsOf>;
  readonly #fences: Fences;
  readonly #memory: LaneMemory;
  readonly #ready: ReadyLanes;
  readonly #demands = new Demands();
  /** Demands that new events of this transaction have filled. */
  #fresh: (readonly [Lane, Demand])[] = [];
  /** The last suspect that was allowed to run. */
  #runningSuspect: Claim | undefined;

  constructor(db: Database, { history, effects, clock }: LaneLeasesOptions) {
    this.#history = history;
    this.#effects = effects;
    this.#clock = clock;
    this.#sql = statementsOf(db);
    this.#fences = new Fences(db);
    this.#memory = new LaneMemory(db);
    this.#ready = new ReadyLanes(db, this.#memory);
  }

  /** Claims up to `limit` lanes. The list is complete at the end of the transaction. */
  claim(limit: number, leaseMs: number, now: number, rooms?: ClaimRooms): readonly Claim[] {
    const left = rooms && new RoomsLeft(rooms);
    return this.#demands.add(new Demand(limit, now + leaseMs, { rooms: left })).claims;
  }

  /** Fills the free slots with lanes that wait, longest first. New events fill the rest. */
  serve(): void {
    if (this.#demands.isEmpty) return;
    const now = this.#clock.now();
    // In key order, because the order decides which suspect runs first.
    const leased = this.#ready.takeSlots(this.#demands, now).map((ready) => {
      return [this.#lease(ready, now), ready.demand] as const;
    });
    // By now every claimed lane is leased, so a suspect with an expired lease does not block another suspect.
    for (const [claim, demand] of leased) {
      if (claim === undefined) demand.left += 1;
      else if (this.#mustWait(claim)) this.#putOff(claim, now + SUSPECT_WAIT_MS);
      else demand.claims.push(claim);
    }
  }

  /** Returns a free slot for a new event, or `undefined` if the event must wait. */
  demandFor({ type, lane: key, unusable }: NewEvent): Demand | undefined {
    if (this.#demands.isEmpty || unusable !== undefined) return undefined;
    const demand = this.#demands.find(type);
    if (demand === undefined) return undefined;
    const lane = this.#memory.find(key);
    const isIdle = lane?.claim === undefined && lane?.waitingSince === undefined;
    return lane !== undefined && isIdle ? demand : undefined;
  }

  nextFence(): number {
    return this.#fences.next();
  }

  /** Adds a new event to its lane. With a demand, the event is stored as running, with `fence`. */
  add(arrival: NewArrival, demand: Demand | undefined, fence: number): void {
    const lane = this.#memory.find(arrival.event.lane);
    // A lane that waits in the file will find the event there.
    if (lane === undefined) return;
    if (demand !== undefined) {
      takeSlot(demand, arrival.event.type);
      demand.claims.push(this.#leaseNew(lane, arrival, demand, fence));
    } else if (lane.claim !== undefined) {
      if (arrival.event.ord < lane.claim.ord) this.#swapIfFresh(lane, lane.claim, arrival);
      this.#memory.addEvent(lane);
    } else if (lane.waitingSince !== undefined) this.#memory.addEvent(lane);
    else this.#memory.wait(lane, arrival.at, arrival);
  }

  extend(claims: readonly Claim[], leaseMs: number, now: number): Claim[] {
    const until = now + leaseMs;
    return claims.filter((claim) => {
      const lane = this.#laneOf(claim);
      if (lane?.claim === undefined) return false;
      if (this.#sql.extend.run(until, lane.claim.seq, claim.fence).changes === 0) {
        this.#letGo(claim, now);
        return false;
      }
      this.#memory.extend(lane, until);
      return true;
    });
  }

  /** Ends the event as done, or as a dead letter if there is an error. */
  end(claim: Claim, now: number, how: HowEnded = {}): Ending {
    const ending = this.#end(claim, now, how);
    if (ending !== "conflict") this.#letGo(claim, now);
    return ending;
  }

  /**
   * Ends the event and continues with the lane's next event. With `leaseMs`, continues with another lane if this lane
   * is empty. Its event must have the same type, because the caller has a free slot for this type only.
   */
  advance(
    claim: Claim,
    now: number,
    how: Omit<HowEnded, "error">,
    leaseMs?: number,
  ): Advance | "conflict" {
    const ending = this.#end(claim, now, how);
    if (ending === "conflict") return ending;
    const held = ending === "ended";
    const following = held ? this.#goOn(claim, now) : undefined;
    if (following !== undefined) return new LaneAdvance(held, [following]);
    this.#letGo(claim, now);
    if (!held || leaseMs === undefined) return new LaneAdvance(held);
    const demand = this.#demands.add(new Demand(1, now + leaseMs, { type: claim.type }));
    return new LaneAdvance(held, demand.claims);
  }

  retry(claim: Claim, now: number, delayMs: number, error: string): boolean {
    if (!this.#stop(claim, now, 1, error)) return false;
    this.#close(claim, now + delayMs);
    this.#history.add(claim, "failed", error, now);
    return true;
  }

  release(claim: Claim, now: number, delayMs: number, error?: string): boolean {
    if (!this.#stop(claim, now, 0, null)) return false;
    this.#close(claim, now + delayMs);
    if (error !== undefined) this.#history.add(claim, "released", error, now);
    return true;
  }

  /** Returns when a lane can be claimed, in ms since 1970. `undefined` if every lane is idle. */
  nextReadyAt(): number | undefined {
    return this.#ready.nextAt();
  }

  heal(now: number): number {
    const leased = [...this.#memory.leased].map(({ key }) => key);
    return this.#sql.heal.run(now, packList(leased)).changes;
  }

  /** Writes the rows of up to `limit` lanes that are only in memory. */
  write(limit: number, now: number): void {
    this.#memory.write(limit, now);
  }

  /** Moves all lanes but the leased ones into the file, because other statements are about to use the rows. */
  writeAll(now: number): void {
    this.#memory.writeAll(now);
  }

  committed(): void {
    this.#memory.committed();
    this.#forgetTransaction();
  }

  undone(): void {
    this.#memory.undone();
    this.#fences.undone();
    this.#ready.undone();
    this.#forgetTransaction();
  }

  #forgetTransaction(): void {
    this.#demands.clear();
    this.#fresh = [];
  }

  /** Returns `undefined` if another process has discarded the event in the meantime. */
  #lease({ key, from, head, arrival, demand }: ReadyLane, now: number): PlacedClaim | undefined {
    const lane = "done_ord" in from ? this.#memory.takeFromFile(key, from) : from;
    const lapsed = lane.claim;
    const crashes = lapsed === undefined ? 0 : this.#countLapsed(lapsed, head, now);
    if (crashes === 0) return this.#begin(lane, head, demand.until, now, arrival);
    const counted = { attempts: head.attempts + 1, crashes: head.crashes + 1 };
    return this.#begin(lane, { ...head, ...counted }, demand.until, now);
  }

  /** Leases the lane for one of its events. With an arrival, it is the only one. */
  #begin(
    lane: Lane,
    head: PlacedRow,
    until: number,
    now: number,
    arrival?: NewArrival,
  ): PlacedClaim | undefined {
    const fence = this.#fences.next();
    if (this.#sql.begin.run(fence, until, now, head.seq).changes === 0) {
      this.#memory.release(lane);
      return undefined;
    }
    const claim = new PlacedClaim(lane, fence, head, arrival?.event.event);
    this.#hold(lane, claim, until, arrival === undefined);
    return claim;
  }

  #leaseNew(lane: Lane, arrival: NewArrival, demand: Demand, fence: number): PlacedClaim {
    const claim = new PlacedClaim(lane, fence, rowOf(arrival), arrival.event.event);
    this.#hold(lane, claim, demand.until, false);
    this.#fresh.push([lane, demand]);
    return claim;
  }

  #hold(lane: Lane, claim: PlacedClaim, until: number, hasMore: boolean): void {
    this.#memory.lease(lane, claim, until, hasMore);
    this.#ready.noteLease(until);
  }

  /** Lets an event take the slot of a later one in its lane, if both arrive in this transaction. */
  #swapIfFresh(lane: Lane, later: PlacedClaim, arrival: NewArrival): void {
    const [, demand] = this.#fresh.find(([one]) => one === lane) ?? [];
    if (demand === undefined) return;
    this.#sql.stop.run(null, 0, later.seq, later.fence);
    const fence = this.#fences.next();
    this.#sql.begin.run(fence, demand.until, arrival.at, arrival.seq);
    const nth = demand.claims.indexOf(later);
    demand.claims[nth] = this.#leaseNew(lane, arrival, demand, fence);
  }

  /** Continues with the lane's next event. `undefined` if there is none or the lease has expired. */
  #goOn(claim: Claim, now: number): PlacedClaim | undefined {
    const lane = this.#laneOf(claim);
    if (lane === undefined || !lane.hasMore || lane.leasedUntil <= now) return undefined;
    const head = this.#ready.head(lane.key);
    // Leave a suspect to the lane's next claim, which decides whether it may run.
    if (head === undefined || head.crashes >= SUSPECT_CRASHES) return undefined;
    return this.#begin(lane, head, lane.leasedUntil, now);
  }

  #end(claim: Claim, now: number, { error, effects, skipped }: HowEnded): Ending {
    const lane = this.#laneOf(claim);
    if (lane?.claim === undefined) return "lost";
    const { seq, fence } = lane.claim;
    if (effects !== undefined) {
      if (this.#sql.isRunning.get(seq, fence) === undefined) return "lost";
      if (!this.#effects.write(effects, claim, now)) return "conflict";
    }
    const changes =
      error !== undefined
        ? this.#sql.endDead.run(error, now, 1, seq, fence)
        : skipped === undefined
          ? this.#sql.endDone.run(now, 1, seq, fence).changes
          : this.#sql.endSkipped.run(skipped, now, 1, seq, fence);
    if (changes === 0) return "lost";
    this.#memory.noteEnd(lane, lane.claim, now);
    if (error !== undefined) this.#history.add(claim, "dead", error, now);
    return "ended";
  }

  /** Ends the run without an outcome. Returns false if the lease was lost. */
  #stop(claim: Claim, now: number, attempts: 0 | 1, error: string | null): boolean {
    const seq = this.#laneOf(claim)?.claim?.seq;
    if (seq === undefined) return false;
    if (this.#sql.stop.run(error, attempts, seq, claim.fence) > 0) return true;
    this.#letGo(claim, now);
    return false;
  }

  /** Ends the lease. A lane with more events goes behind the others. */
  #letGo(claim: Claim, now: number): void {
    const lane = this.#laneOf(claim);
    if (lane === undefined) return;
    if (lane.hasMore && this.#sql.hasPending.get(lane.key)) this.#memory.wait(lane, now);
    else this.#memory.release(lane);
  }

  /** Ends the lease, and keeps the lane closed until a time. */
  #close(claim: Claim, until: number): void {
    const lane = this.#laneOf(claim);
    if (lane !== undefined) this.#memory.postpone(lane, until);
  }

  #putOff(claim: PlacedClaim, until: number): void {
    this.#sql.stop.run(null, 0, claim.seq, claim.fence);
    this.#close(claim, until);
  }

  /** Counts a run whose lease has expired. Returns 1 if it was a run of the lane's first event. */
  #countLapsed({ seq, id, fence }: PlacedClaim, head: PlacedRow, now: number): 0 | 1 {
    if (seq === head.seq) {
      this.#history.addCrash({ id, fence, attempt: head.attempts + 1 }, now);
      return 1;
    }
    this.#sql.stop.run(null, 1, seq, fence);
    return 0;
  }

  /**
   * Returns whether a suspect must wait. Suspects run one at a time, so that the event that crashes the process becomes
   * a dead letter alone.
   */
  #mustWait(claim: Claim): boolean {
    if (claim.crashes < SUSPECT_CRASHES) return false;
    const running = this.#runningSuspect;
    if (running !== undefined && this.#laneOf(running) !== undefined) return true;
    this.#runningSuspect = claim;
    return false;
  }

  /** Returns a claim's lane, or `undefined` if the claim has lost its lease. */
  #laneOf({ lane: key, fence }: Claim): Lane | undefined {
    const lane = this.#memory.get(key);
    return lane?.claim?.fence === fence ? lane : undefined;
  }
}
