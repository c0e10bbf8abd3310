import type { Database } from "better-sqlite3";
import type { Clock } from "../../core/clock.ts";
import type { Effects } from "../effects.ts";
import type { Claim, ClaimRooms, NewEvent } from "../inbox.ts";
import { type HeadRow, SUSPECT_CRASHES, SUSPECT_WAIT_MS, toClaim } from "../sql/sql-inbox.ts";
import type { EffectWriter } from "./effects.ts";
import { Fences } from "./fences.ts";
import type { History } from "./history.ts";
import { LastDone } from "./last-done.ts";
import type { TransactionMemory } from "./store.ts";
import { TransactionMap } from "./transaction-map.ts";
import { byTime, type NewArrival, WaitingLanes } from "./waiting-lanes.ts";

/**
 * Values are bound by position, because binding by name would take a quarter of the time per event. Conditions that
 * could use an event index write a value as `+?`. Without the plus, SQLite plans the statement again for each value,
 * because the value could match a partial index. Planning takes five times as long as the statement itself. No statement
 * for each event has a RETURNING clause, because SQLite stores its rows in a temporary table first.
 */
type Values = (string | number | null)[];

interface PlacedRow extends HeadRow {
  readonly seq: number;
  readonly ord: string;
}

/** A claim in this store, with the position of its event. */
interface PlacedClaim extends Claim {
  readonly seq: number;
  readonly ord: string;
}

/** Times are in ms since 1970. */
interface Lease {
  readonly claim: PlacedClaim;
  readonly until: number;
  /** True if the lane may have other pending events. */
  readonly hasMore: boolean;
}

/** A lane that can be claimed. */
interface ReadyLane {
  readonly key: string;
  /** Time since when the lane waits, in ms since 1970. */
  readonly ready_at: number;
  /** The lane's only pending event, if it is in memory. */
  readonly arrival?: NewArrival | undefined;
  /** Absent unless the lane waits in the file. */
  readonly done_ord?: string | null;
}

/** A lane to claim, with its first event. */
interface ReadyEvent {
  readonly lane: ReadyLane;
  readonly head: PlacedRow;
}

/** Slots that waiting lanes and new events fill in one transaction. */
export interface Demand {
  left: number;
  /** End of the new leases, in ms since 1970. */
  readonly until: number;
  /** The only type that fits. `undefined` if every type fits. */
  readonly type?: string;
  readonly rooms?: RoomsLeft | undefined;
  readonly claims: PlacedClaim[];
}

/** Result of a run's end. `conflict`: a state has changed since the run read it, so nothing was written. */
export type Ending = "ended" | "lost" | "conflict";

/** Result of ending an event as done. `next` is complete once the transaction's new events are stored. */
export interface Ended {
  readonly held: boolean;
  readonly next: readonly Claim[];
}

/** Maximum number of lanes that wait in memory. Further lanes wait in the file. */
const MAX_WAITING = 5_000;

const READY = "SELECT key, ready_at, done_ord FROM lane WHERE ready_at <= +?";

/** Guards every write of a run. Nothing is written once another run has the event, or an operator has discarded it. */
const RUNNING = "seq = ? AND fence = ? AND leased_until IS NOT NULL AND state = 'pending'";

const stop = (change: string) =>
  `UPDATE event SET ${change}, attempts = attempts + ?, leased_until = NULL WHERE ${RUNNING}`;

const statementsOf = (db: Database) => ({
  ready: db.prepare<Values, ReadyLane>(`${READY} ORDER BY ready_at, key LIMIT +?`),
  readyWithin: db.prepare<Values, ReadyLane>(
    `${READY} AND coalesce((
       SELECT type FROM event WHERE event.lane = lane.key AND state = 'pending' ORDER BY ord, seq LIMIT 1
     ) NOT IN (SELECT value FROM json_each(+?)), true)
     ORDER BY ready_at, key LIMIT +?`,
  ),
  nextReady: db
    .prepare<[], number | null>("SELECT min(ready_at) FROM lane WHERE ready_at IS NOT NULL")
    .pluck(),
  head: db.prepare<Values, PlacedRow>(
    `SELECT seq, id, type, body, ord, source, attempts, crashes, received_at, trace FROM event
     WHERE lane = +? AND state = 'pending' ORDER BY ord, seq LIMIT 1`,
  ),
  hasPending: db.prepare<Values>(
    "SELECT 1 FROM event WHERE lane = +? AND state = 'pending' LIMIT 1",
  ),
  isRunning: db.prepare<Values>(`SELECT 1 FROM event WHERE ${RUNNING}`),
  begin: db.prepare<Values>(
    "UPDATE event SET fence = ?, leased_until = ? WHERE seq = ? AND state = 'pending'",
  ),
  extend: db.prepare<Values>(`UPDATE event SET leased_until = ? WHERE ${RUNNING}`),
  endDone: db.prepare<Values>(stop("state = 'done', error = NULL, done_at = ?")),
  endDead: db.prepare<Values>(stop("state = 'dead', error = ?, done_at = ?")),
  stop: db.prepare<Values>(stop("error = coalesce(?, error)")),
  // A lane that waits for a retry keeps its time, because order matters more than speed.
  wake: db.prepare<Values>(
    `INSERT INTO lane (key, ready_at) VALUES (?, ?)
     ON CONFLICT (key) DO UPDATE SET ready_at = coalesce(ready_at, excluded.ready_at)`,
  ),
  postpone: db.prepare<Values>(
    `INSERT INTO lane (key, ready_at) VALUES (?, ?)
     ON CONFLICT (key) DO UPDATE SET ready_at = excluded.ready_at`,
  ),
  rest: db.prepare<Values>("UPDATE lane SET ready_at = NULL WHERE key = ?"),
  heal: db.prepare<Values>(
    `INSERT INTO lane (key, ready_at)
     SELECT DISTINCT lane, ? FROM event
     WHERE state = 'pending' AND lane NOT IN (SELECT value FROM json_each(?))
     ON CONFLICT (key) DO UPDATE SET ready_at = excluded.ready_at WHERE lane.ready_at IS NULL`,
  ),
});

export interface LanesOptions {
  readonly history: History;
  readonly effects: EffectWriter;
  readonly clock: Clock;
}

/**
 * Leases lanes with their first events, and ends the leases when runs end. Every method that changes anything must be
 * called inside a transaction.
 *
 * Leases are in memory, because only this process uses the file. The row of an event names its run, so that the next
 * start can count a crash. A lane with pending events that no run is handling waits in memory, or in the file with a
 * time. Another process may give a leased lane a time as well. The next claim then corrects the row.
 */
export class Lanes implements TransactionMemory {
  readonly #history: History;
  readonly #effects: EffectWriter;
  readonly #clock: Clock;
  readonly #sql: ReturnType<typeof statementsOf>;
  readonly #fences: Fences;
  readonly #lastDone: LastDone;
  readonly #leases = new TransactionMap<Lease>();
  readonly #waiting = new WaitingLanes();
  /** Slots that are still free in this transaction. */
  readonly #demands: Demand[] = [];
  /** Lanes leased for an event that this transaction stores. */
  readonly #fresh = new Map<string, Demand>();
  /** True if no lane waits in the file, as far as this transaction knows. */
  #isFileIdle = false;
  /** No lease ends earlier, in ms since 1970. */
  #firstEnd = Number.NEGATIVE_INFINITY;
  /** The last suspect that was allowed to run. */
  #runningSuspect: Claim | undefined;

  constructor(db: Database, { history, effects, clock }: LanesOptions) {
    this.#history = history;
    this.#effects = effects;
    this.#clock = clock;
    this.#sql = statementsOf(db);
    this.#fences = new Fences(db);
    this.#lastDone = new LastDone(db);
  }

  /** Claims up to `limit` lanes. The list is complete at the end of the transaction. */
  claim(limit: number, leaseMs: number, now: number, rooms?: ClaimRooms): readonly Claim[] {
    const left = rooms && new RoomsLeft(rooms);
    const demand: Demand = { left: limit, until: now + leaseMs, rooms: left, claims: [] };
    this.#demands.push(demand);
    return demand.claims;
  }

  /** Fills the free slots with lanes that wait, longest first. New events fill the rest. */
  serve(): void {
    if (this.#demands.length === 0) return;
    const now = this.#clock.now();
    const found = this.#find(now);
    // Sorted by key, because the order decides which suspect runs first.
    found.sort(([a], [b]) => (a.lane.key < b.lane.key ? -1 : 1));
    const leased = found.map(([event, demand]) => {
      return [this.#lease(event, demand.until, now), demand] as const;
    });
    // By now every claimed lane is leased, so a suspect with an expired lease does not block another suspect.
    for (const [claim, demand] of leased) {
      if (claim === undefined) demand.left += 1;
      else if (this.#mustWait(claim)) this.#putOff(claim, now + SUSPECT_WAIT_MS);
      else demand.claims.push(claim);
    }
  }

  /** Returns a free slot for a new event, or `undefined` if the event must wait. */
  demandFor({ type, lane, unusable }: NewEvent): Demand | undefined {
    if (this.#demands.length === 0 || unusable !== undefined) return undefined;
    if (this.#leases.has(lane) || this.#waiting.has(lane)) return undefined;
    const demand = this.#demands.find((one) => one.left > 0 && fits(one, type));
    return demand === undefined || this.#lastDone.of(lane) === undefined ? undefined : demand;
  }

  nextFence(): number {
    return this.#fences.next();
  }

  /** Adds a new event to its lane. With a demand, the event is stored as running, with `fence`. */
  add(arrival: NewArrival, demand: Demand | undefined, fence: number): void {
    const { lane, ord } = arrival.event;
    const lease = this.#leases.get(lane);
    if (demand !== undefined) {
      demand.left -= 1;
      demand.claims.push(this.#leaseNew(arrival, demand, fence));
    } else if (lease !== undefined) {
      const slot = ord < lease.claim.ord ? this.#fresh.get(lane) : undefined;
      if (slot !== undefined) this.#swap(lease.claim, arrival, slot);
      const { claim, until } = this.#leases.get(lane) ?? lease;
      this.#leases.set(lane, { claim, until, hasMore: true });
    } else if (this.#waiting.has(lane)) this.#waiting.addEvent(lane);
    // A lane with a time in the file waits there.
    else if (this.#lastDone.of(lane) !== undefined) this.#wait(lane, arrival.at, arrival);
  }

  extend(claims: readonly Claim[], leaseMs: number, now: number): Claim[] {
    const until = now + leaseMs;
    return claims.filter((claim) => {
      const lease = this.#leaseOf(claim);
      if (lease === undefined) return false;
      this.#leases.set(claim.lane, { ...lease, until });
      return this.#sql.extend.run(until, lease.claim.seq, claim.fence).changes > 0;
    });
  }

  /** Ends the event as done, or as a dead letter if there is an error. */
  end(claim: Claim, now: number, error?: string, effects?: Effects): Ending {
    const ending = this.#end(claim, now, error, effects);
    if (ending !== "conflict") this.#letGo(claim, now);
    return ending;
  }

  /**
   * Ends the event and continues with the lane's next event. With `leaseMs`, continues with another lane if this lane
   * is empty.
   */
  advance(claim: Claim, now: number, effects?: Effects, leaseMs?: number): Ended | "conflict" {
    const ending = this.#end(claim, now, undefined, effects);
    if (ending === "conflict") return ending;
    const following = ending === "ended" ? this.#goOn(claim, now) : undefined;
    if (following !== undefined) return { held: true, next: [following] };
    this.#letGo(claim, now);
    const next: PlacedClaim[] = [];
    if (ending === "ended" && leaseMs !== undefined) {
      this.#demands.push({ left: 1, until: now + leaseMs, type: claim.type, claims: next });
    }
    return { held: ending === "ended", next };
  }

  retry(claim: Claim, now: number, delayMs: number, error: string): boolean {
    if (!this.#countRun(claim, now, 1, error)) return false;
    this.#close(claim.lane, now + delayMs);
    this.#history.add(claim, "failed", error, now);
    return true;
  }

  release(claim: Claim, now: number, delayMs: number, error?: string): boolean {
    if (!this.#countRun(claim, now, 0, null)) return false;
    this.#close(claim.lane, now + delayMs);
    if (error !== undefined) this.#history.add(claim, "released", error, now);
    return true;
  }

  /** Returns when a lane can be claimed, in ms since 1970. `undefined` if every lane is idle. */
  nextReadyAt(): number | undefined {
    const inFile = this.#sql.nextReady.get() ?? Number.POSITIVE_INFINITY;
    let next = Math.min(inFile, this.#waiting.first()?.ready_at ?? Number.POSITIVE_INFINITY);
    for (const { until } of this.#leases.values()) next = Math.min(next, until);
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  heal(now: number): number {
    return this.#sql.heal.run(now, JSON.stringify([...this.#leases.keys()])).changes;
  }

  /** Writes the rows of lanes that have been unwritten for longest. Returns true if unwritten lanes are left. */
  writeOldest(limit: number, now: number): boolean {
    return this.#lastDone.writeOldest(limit, now);
  }

  /** Moves what is in memory into the file, except the leases, because other statements are about to use the rows. */
  writeAll(now: number): void {
    this.#lastDone.writeAll(now);
    for (const { key, ready_at } of this.#waiting.take(this.#waiting.size)) {
      this.#sql.wake.run(key, ready_at);
    }
    this.#waiting.clear();
    this.#isFileIdle = false;
    for (const [lane, lease] of this.#leases) this.#leases.set(lane, { ...lease, hasMore: true });
  }

  committed(): void {
    this.#leases.committed();
    this.#waiting.committed();
    this.#lastDone.committed();
    this.#forgetTransaction();
  }

  undone(): void {
    this.#leases.undone();
    this.#waiting.undone();
    this.#lastDone.undone();
    this.#fences.undone();
    this.#firstEnd = Number.NEGATIVE_INFINITY;
    this.#forgetTransaction();
  }

  #forgetTransaction(): void {
    this.#demands.length = 0;
    this.#fresh.clear();
    this.#isFileIdle = false;
  }

  /** Chooses lanes for the demands, longest waiting first, and takes the slots. */
  #find(now: number): (readonly [ReadyEvent, Demand])[] {
    const found = new Map<string, readonly [ReadyEvent, Demand]>();
    let limit = 0;
    for (const { left } of this.#demands) limit += left;
    for (let isCorrected = true; isCorrected && found.size < limit; ) {
      isCorrected = false;
      for (const lane of this.#ready(limit, now)) {
        if (found.size === limit || found.has(lane.key)) continue;
        const head = this.#headOf(lane, now);
        // Other lanes may take the place of a lane that turns out not to be ready.
        if (head === undefined) isCorrected = true;
        else this.#assign({ lane, head }, found);
      }
    }
    return [...found.values()];
  }

  /** Gives a lane to the first demand that it fits. Suspects are left to claims, which decide whether they may run. */
  #assign(event: ReadyEvent, found: Map<string, readonly [ReadyEvent, Demand]>): void {
    const { type, crashes } = event.head;
    const isSuspect = crashes + 1 >= SUSPECT_CRASHES;
    const demand = this.#demands.find((one) => {
      return one.left > 0 && fits(one, type) && !(isSuspect && one.type !== undefined);
    });
    if (demand === undefined) return;
    demand.left -= 1;
    demand.rooms?.take(type);
    found.set(event.lane.key, [event, demand]);
  }

  /** Returns lanes that may be claimed, longest waiting first: at least `limit` lanes, unless there are fewer. */
  #ready(limit: number, now: number): readonly ReadyLane[] {
    const full = this.#fullTypes();
    const inFile = this.#readyInFile(limit, now, full);
    // Lanes whose first event has a type without room are skipped, so all lanes in memory may be needed.
    const inMemory = this.#waiting.take(full.length === 0 ? limit : this.#waiting.size);
    const expired = this.#expired(now);
    if (inFile.length === 0 && expired.length === 0) return inMemory;
    return [...inFile, ...inMemory, ...expired].sort(byTime);
  }

  /** Returns the types for which no demand has room. */
  #fullTypes(): readonly string[] {
    const [first, ...others] = this.#demands;
    const full = first?.rooms?.full ?? [];
    return full.filter((type) => others.every((demand) => !fits(demand, type)));
  }

  #readyInFile(limit: number, now: number, full: readonly string[]): readonly ReadyLane[] {
    if (this.#isFileIdle) return [];
    if (full.length > 0) return this.#sql.readyWithin.all(now, JSON.stringify(full), limit);
    const ready = this.#sql.ready.all(now, limit);
    this.#isFileIdle = ready.length === 0;
    return ready;
  }

  #expired(now: number): ReadyLane[] {
    if (now < this.#firstEnd) return [];
    const expired: ReadyLane[] = [];
    this.#firstEnd = Number.POSITIVE_INFINITY;
    for (const [key, { until }] of this.#leases) {
      this.#firstEnd = Math.min(this.#firstEnd, until);
      if (until <= now) expired.push({ key, ready_at: until });
    }
    return expired;
  }

  /** Returns the first event of a lane that may be claimed. Otherwise corrects what said so. */
  #headOf(lane: ReadyLane, now: number): PlacedRow | undefined {
    const { key } = lane;
    const isInFile = lane.done_ord !== undefined;
    const lease = this.#leases.get(key);
    if (lease !== undefined && lease.until > now) {
      this.#leases.set(key, { ...lease, hasMore: true });
      this.#forget(key, isInFile);
      return undefined;
    }
    // The file has a time for the lane, which decides.
    if (!isInFile && this.#lastDone.of(key) === undefined) {
      this.#forget(key, false);
      return undefined;
    }
    const head = lane.arrival === undefined ? this.#sql.head.get(key) : rowOf(lane.arrival);
    if (head !== undefined) return head;
    this.#leases.delete(key);
    this.#forget(key, isInFile);
    return undefined;
  }

  /** Makes a lane idle that nothing can be claimed from. */
  #forget(lane: string, isInFile: boolean): void {
    this.#waiting.delete(lane);
    if (isInFile) this.#sql.rest.run(lane);
  }

  /** Returns `undefined` if another process has discarded the event in the meantime. */
  #lease({ lane, head }: ReadyEvent, until: number, now: number): PlacedClaim | undefined {
    const { key, done_ord, arrival } = lane;
    const lapsed = this.#leases.get(key);
    const crashes = lapsed === undefined ? 0 : this.#countLapsed(lapsed.claim, head, now);
    this.#forget(key, done_ord !== undefined);
    if (done_ord !== undefined) this.#lastDone.learn(key, done_ord);
    if (crashes === 0) return this.#begin(key, head, until, arrival);
    const counted = { attempts: head.attempts + 1, crashes: head.crashes + 1 };
    return this.#begin(key, { ...head, ...counted }, until);
  }

  /** Leases the lane for one of its events. With an arrival, it is the only one. */
  #begin(
    lane: string,
    head: PlacedRow,
    until: number,
    arrival?: NewArrival,
  ): PlacedClaim | undefined {
    const fence = this.#fences.next();
    if (this.#sql.begin.run(fence, until, head.seq).changes === 0) return undefined;
    const claim = { ...this.#place(lane, fence, head), event: arrival?.event.event };
    this.#hold(claim, until, arrival === undefined);
    return claim;
  }

  #place(lane: string, fence: number, head: PlacedRow): PlacedClaim {
    const late = head.ord !== "" && head.ord < (this.#lastDone.of(lane) ?? "");
    return { ...toClaim({ lane, fence, late }, head), seq: head.seq, ord: head.ord };
  }

  #hold(claim: PlacedClaim, until: number, hasMore: boolean): void {
    this.#leases.set(claim.lane, { claim, until, hasMore });
    this.#firstEnd = Math.min(this.#firstEnd, until);
  }

  #leaseNew(arrival: NewArrival, demand: Demand, fence: number): PlacedClaim {
    const { lane, type, event } = arrival.event;
    const claim = { ...this.#place(lane, fence, rowOf(arrival)), event };
    this.#hold(claim, demand.until, false);
    this.#fresh.set(lane, demand);
    demand.rooms?.take(type);
    return claim;
  }

  /** Lets an event take the place of a later one in its lane, because both arrive in this transaction. */
  #swap(later: PlacedClaim, arrival: NewArrival, demand: Demand): void {
    this.#sql.begin.run(0, null, later.seq);
    const fence = this.#fences.next();
    this.#sql.begin.run(fence, demand.until, arrival.seq);
    demand.claims[demand.claims.indexOf(later)] = this.#leaseNew(arrival, demand, fence);
  }

  /** Continues with the lane's next event. `undefined` if there is none or the lease has expired. */
  #goOn({ lane }: Claim, now: number): PlacedClaim | undefined {
    const lease = this.#leases.get(lane);
    if (lease === undefined || !lease.hasMore || lease.until <= now) return undefined;
    const head = this.#sql.head.get(lane);
    if (head === undefined) this.#leases.set(lane, { ...lease, hasMore: false });
    // Leave a suspect to the lane's next claim, which decides whether it may run.
    if (head === undefined || head.crashes >= SUSPECT_CRASHES) return undefined;
    return this.#begin(lane, head, lease.until);
  }

  #end(claim: Claim, now: number, error?: string, effects?: Effects): Ending {
    const lease = this.#leaseOf(claim);
    if (lease === undefined) return "lost";
    const { seq, ord, fence } = lease.claim;
    if (effects !== undefined) {
      if (this.#sql.isRunning.get(seq, fence) === undefined) return "lost";
      if (!this.#effects.write(effects, claim, now)) return "conflict";
    }
    const { changes } =
      error === undefined
        ? this.#sql.endDone.run(now, 1, seq, fence)
        : this.#sql.endDead.run(error, now, 1, seq, fence);
    if (changes === 0) return "lost";
    this.#lastDone.note(claim.lane, ord, now);
    if (error !== undefined) this.#history.add(claim, "dead", error, now);
    return "ended";
  }

  /** Ends the run without an outcome. Returns false if the lease was lost. */
  #countRun(claim: Claim, now: number, attempts: 0 | 1, error: string | null): boolean {
    const lease = this.#leaseOf(claim);
    if (lease === undefined) return false;
    const { seq, fence } = lease.claim;
    if (this.#sql.stop.run(error, attempts, seq, fence).changes > 0) return true;
    this.#letGo(claim, now);
    return false;
  }

  /** Ends the lease. A lane with more events goes behind the others. */
  #letGo(claim: Claim, now: number): void {
    const lease = this.#leaseOf(claim);
    if (lease === undefined) return;
    this.#leases.delete(claim.lane);
    if (lease.hasMore && this.#sql.hasPending.get(claim.lane)) this.#wait(claim.lane, now);
  }

  /** @param arrival the lane's only pending event */
  #wait(lane: string, since: number, arrival?: NewArrival): void {
    if (this.#waiting.size < MAX_WAITING) {
      this.#waiting.add(lane, since, arrival);
      return;
    }
    this.#lastDone.settle(lane);
    this.#sql.wake.run(lane, since);
    this.#isFileIdle = false;
  }

  /** Ends the lease, and keeps the lane closed until a time. */
  #close(lane: string, until: number): void {
    this.#leases.delete(lane);
    this.#lastDone.settle(lane);
    this.#sql.postpone.run(lane, until);
    this.#isFileIdle = false;
  }

  #putOff({ lane, seq, fence }: PlacedClaim, until: number): void {
    this.#sql.stop.run(null, 0, seq, fence);
    this.#close(lane, until);
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
    if (running !== undefined && this.#leaseOf(running) !== undefined) return true;
    this.#runningSuspect = claim;
    return false;
  }

  /** Returns a claim's lease, or `undefined` if the claim has lost it. */
  #leaseOf({ lane, fence }: Claim): Lease | undefined {
    const lease = this.#leases.get(lane);
    return lease?.claim.fence === fence ? lease : undefined;
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

function fits({ type: only, rooms }: Demand, type: string): boolean {
  return (only === undefined || only === type) && rooms?.has(type) !== false;
}

function rowOf({ seq, event, source, trace, at }: NewArrival): PlacedRow {
  const { id, type, body, ord } = event;
  return { seq, id, type, body, ord, source, trace, attempts: 0, crashes: 0, received_at: at };
}
