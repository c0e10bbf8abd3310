import type { Database } from "better-sqlite3";
import type { Clock } from "../../core/clock.ts";
import type { Effects } from "../effects.ts";
import type { Claim, ClaimRooms, NewEvent } from "../inbox.ts";
import { type HeadRow, SUSPECT_CRASHES, SUSPECT_WAIT_MS, toClaim } from "../sql/sql-inbox.ts";
import type { EffectWriter } from "./effects.ts";
import { Fences } from "./fences.ts";
import type { History } from "./history.ts";
import { type Lane, LaneMemory, type NewArrival, type PlacedClaim } from "./lane-memory.ts";
import type { TransactionMemory } from "./store.ts";

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

/** A lane that waits in the file. */
interface LaneRow {
  readonly key: string;
  /** Time since when the lane waits, in ms since 1970. */
  readonly ready_at: number;
  readonly done_ord: string | null;
}

/** A lane that may be claimed, in memory or in the file. */
interface Candidate {
  readonly key: string;
  /** Time since when the lane waits, in ms since 1970. */
  readonly since: number;
  readonly from: Lane | LaneRow;
}

/** A lane to claim, and its first event. */
interface ReadyEvent {
  readonly candidate: Candidate;
  readonly head: PlacedRow;
  /** The event, if it is in memory. It is then the lane's only one. */
  readonly arrival: NewArrival | undefined;
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

const READY = "SELECT key, ready_at, done_ord FROM lane WHERE ready_at <= +?";

/** Guards every write of a run. Nothing is written once another run has the event, or an operator has discarded it. */
const RUNNING = "seq = ? AND fence = ? AND leased_until IS NOT NULL AND state = 'pending'";

const stop = (change: string) =>
  `UPDATE event SET ${change}, attempts = attempts + ?, leased_until = NULL WHERE ${RUNNING}`;

const statementsOf = (db: Database) => ({
  ready: db.prepare<Values, LaneRow>(`${READY} ORDER BY ready_at, key LIMIT +?`),
  readyWithin: db.prepare<Values, LaneRow>(
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
 * called inside a transaction. The row of an event that is being handled names its run, so that the next start can count
 * a crash.
 */
export class Lanes implements TransactionMemory {
  readonly #history: History;
  readonly #effects: EffectWriter;
  readonly #clock: Clock;
  readonly #sql: ReturnType<typeof statementsOf>;
  readonly #fences: Fences;
  readonly #memory: LaneMemory;
  /** Slots that are still free in this transaction. */
  readonly #demands: Demand[] = [];
  /** Claims of events that this transaction stores, by lane. */
  readonly #fresh = new Map<Lane, Demand>();
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
    this.#memory = new LaneMemory(db);
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
    // Sorted by key, because the order decides which suspect runs first.
    const found = this.#find(now).sort(([a], [b]) => (a.candidate.key < b.candidate.key ? -1 : 1));
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
  demandFor({ type, lane: key, unusable }: NewEvent): Demand | undefined {
    if (this.#demands.length === 0 || unusable !== undefined) return undefined;
    const demand = this.#demands.find((one) => one.left > 0 && fits(one, type));
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
      demand.left -= 1;
      demand.claims.push(this.#leaseNew(lane, arrival, demand, fence));
    } else if (lane.claim !== undefined) {
      const slot = arrival.event.ord < lane.claim.ord ? this.#fresh.get(lane) : undefined;
      if (slot !== undefined) this.#swap(lane, lane.claim, arrival, slot);
      this.#memory.addEvent(lane);
    } else if (lane.waitingSince !== undefined) this.#memory.addEvent(lane);
    else this.#memory.wait(lane, arrival.at, arrival);
  }

  extend(claims: readonly Claim[], leaseMs: number, now: number): Claim[] {
    const until = now + leaseMs;
    return claims.filter((claim) => {
      const lane = this.#laneOf(claim);
      if (lane?.claim === undefined) return false;
      this.#memory.extend(lane, until);
      return this.#sql.extend.run(until, lane.claim.seq, claim.fence).changes > 0;
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
   * is empty. Its event must have the same type, because the caller has a free slot for this type only.
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
    const { first, leased } = this.#memory;
    const inFile = this.#sql.nextReady.get() ?? Number.POSITIVE_INFINITY;
    let next = Math.min(inFile, first?.waitingSince ?? Number.POSITIVE_INFINITY);
    for (const { leasedUntil } of leased) next = Math.min(next, leasedUntil);
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  heal(now: number): number {
    const leased = [...this.#memory.leased].map(({ key }) => key);
    return this.#sql.heal.run(now, JSON.stringify(leased)).changes;
  }

  /** Writes the rows of lanes that have been unwritten for longest. Returns true if there are others. */
  writeOldest(limit: number, now: number): boolean {
    return this.#memory.writeOldest(limit, now);
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
      for (const candidate of this.#candidates(limit, now)) {
        if (found.size === limit || found.has(candidate.key)) continue;
        const event = this.#firstOf(candidate, now);
        // Other lanes may take the place of a lane that turns out not to be ready.
        if (event === undefined) isCorrected = true;
        else this.#assign(event, found);
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
    found.set(event.candidate.key, [event, demand]);
  }

  /** Returns lanes that may be claimed, longest waiting first: at least `limit` lanes, unless there are fewer. */
  #candidates(limit: number, now: number): readonly Candidate[] {
    const full = this.#fullTypes();
    // Lanes whose first event has a type without room are skipped, so all lanes in memory may be needed.
    const inMemory = this.#memory
      .waiting(full.length === 0 ? limit : Number.POSITIVE_INFINITY)
      .map((lane) => ({ key: lane.key, since: lane.waitingSince ?? now, from: lane }));
    const inFile = this.#readyInFile(limit, now, full);
    const expired = this.#expired(now);
    if (inFile.length === 0 && expired.length === 0) return inMemory;
    return [...inFile, ...inMemory, ...expired].sort(
      (a, b) => a.since - b.since || (a.key < b.key ? -1 : 1),
    );
  }

  /** Returns the types for which no demand has room. */
  #fullTypes(): readonly string[] {
    const [first, ...others] = this.#demands;
    const full = first?.rooms?.full ?? [];
    return full.filter((type) => others.every((demand) => !fits(demand, type)));
  }

  #readyInFile(limit: number, now: number, full: readonly string[]): Candidate[] {
    if (this.#isFileIdle) return [];
    const rows =
      full.length === 0
        ? this.#sql.ready.all(now, limit)
        : this.#sql.readyWithin.all(now, JSON.stringify(full), limit);
    if (full.length === 0) this.#isFileIdle = rows.length === 0;
    return rows.map((row) => ({ key: row.key, since: row.ready_at, from: row }));
  }

  #expired(now: number): Candidate[] {
    if (now < this.#firstEnd) return [];
    const expired: Candidate[] = [];
    this.#firstEnd = Number.POSITIVE_INFINITY;
    for (const lane of this.#memory.leased) {
      const { key, leasedUntil } = lane;
      this.#firstEnd = Math.min(this.#firstEnd, leasedUntil);
      if (leasedUntil <= now) expired.push({ key, since: leasedUntil, from: lane });
    }
    return expired;
  }

  /** Returns a lane with its first event. If nothing can be claimed, corrects what said so. */
  #firstOf(candidate: Candidate, now: number): ReadyEvent | undefined {
    const { key, from } = candidate;
    const lane = this.#memory.get(key);
    if (lane?.claim !== undefined && lane.leasedUntil > now) {
      this.#memory.rest(key);
      this.#memory.addEvent(lane);
      return undefined;
    }
    const arrival = "arrival" in from ? from.arrival : undefined;
    const head = arrival === undefined ? this.#sql.head.get(key) : rowOf(arrival);
    if (head !== undefined) return { candidate, head, arrival };
    if ("done_ord" in from) this.#memory.rest(key);
    if (lane !== undefined) this.#memory.release(lane);
    return undefined;
  }

  /** Returns `undefined` if another process has discarded the event in the meantime. */
  #lease({ candidate, head, arrival }: ReadyEvent, until: number, now: number) {
    const { key, from } = candidate;
    const lane = "done_ord" in from ? this.#memory.takeFromFile(key, from.done_ord) : from;
    const lapsed = lane.claim;
    const crashes = lapsed === undefined ? 0 : this.#countLapsed(lapsed, head, now);
    if (crashes === 0) return this.#begin(lane, head, until, arrival);
    const counted = { attempts: head.attempts + 1, crashes: head.crashes + 1 };
    return this.#begin(lane, { ...head, ...counted }, until, undefined);
  }

  /** Leases the lane for one of its events. With an arrival, it is the only one. */
  #begin(
    lane: Lane,
    head: PlacedRow,
    until: number,
    arrival: NewArrival | undefined,
  ): PlacedClaim | undefined {
    const fence = this.#fences.next();
    if (this.#sql.begin.run(fence, until, head.seq).changes === 0) {
      this.#memory.release(lane);
      return undefined;
    }
    const claim = place(lane, fence, head, arrival);
    this.#hold(lane, claim, until, arrival === undefined);
    return claim;
  }

  #leaseNew(lane: Lane, arrival: NewArrival, demand: Demand, fence: number): PlacedClaim {
    const claim = place(lane, fence, rowOf(arrival), arrival);
    this.#hold(lane, claim, demand.until, false);
    this.#fresh.set(lane, demand);
    demand.rooms?.take(claim.type);
    return claim;
  }

  #hold(lane: Lane, claim: PlacedClaim, until: number, hasMore: boolean): void {
    this.#memory.lease(lane, claim, until, hasMore);
    this.#firstEnd = Math.min(this.#firstEnd, until);
  }

  /** Lets an event take the place of a later one in its lane, because both arrive in this transaction. */
  #swap(lane: Lane, later: PlacedClaim, arrival: NewArrival, demand: Demand): void {
    this.#sql.stop.run(null, 0, later.seq, later.fence);
    const fence = this.#fences.next();
    this.#sql.begin.run(fence, demand.until, arrival.seq);
    const nth = demand.claims.indexOf(later);
    demand.claims[nth] = this.#leaseNew(lane, arrival, demand, fence);
  }

  /** Continues with the lane's next event. `undefined` if there is none or the lease has expired. */
  #goOn(claim: Claim, now: number): PlacedClaim | undefined {
    const lane = this.#laneOf(claim);
    if (lane === undefined || !lane.hasMore || lane.leasedUntil <= now) return undefined;
    const head = this.#sql.head.get(lane.key);
    // Leave a suspect to the lane's next claim, which decides whether it may run.
    if (head === undefined || head.crashes >= SUSPECT_CRASHES) return undefined;
    return this.#begin(lane, head, lane.leasedUntil, undefined);
  }

  #end(claim: Claim, now: number, error?: string, effects?: Effects): Ending {
    const lane = this.#laneOf(claim);
    if (lane?.claim === undefined) return "lost";
    const { seq, ord, fence } = lane.claim;
    if (effects !== undefined) {
      if (this.#sql.isRunning.get(seq, fence) === undefined) return "lost";
      if (!this.#effects.write(effects, claim, now)) return "conflict";
    }
    const { changes } =
      error === undefined
        ? this.#sql.endDone.run(now, 1, seq, fence)
        : this.#sql.endDead.run(error, now, 1, seq, fence);
    if (changes === 0) return "lost";
    this.#memory.noteEnd(lane, ord, now);
    if (error !== undefined) this.#history.add(claim, "dead", error, now);
    return "ended";
  }

  /** Ends the run without an outcome. Returns false if the lease was lost. */
  #stop(claim: Claim, now: number, attempts: 0 | 1, error: string | null): boolean {
    const seq = this.#laneOf(claim)?.claim?.seq;
    if (seq === undefined) return false;
    if (this.#sql.stop.run(error, attempts, seq, claim.fence).changes > 0) return true;
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
    this.#isFileIdle = false;
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

function place(
  { key, endedOrd }: Lane,
  fence: number,
  head: PlacedRow,
  arrival: NewArrival | undefined,
): PlacedClaim {
  const { seq, ord } = head;
  const late = ord !== "" && ord < endedOrd;
  return { ...toClaim({ lane: key, fence, late }, head), seq, ord, event: arrival?.event.event };
}
