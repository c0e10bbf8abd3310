import type { Database } from "better-sqlite3";
import { SUSPECT_CRASHES } from "../sql/sql-inbox.ts";
import { type Demand, type Demands, takeSlot } from "./demands.ts";
import type { EndColumns, Lane, LaneMemory, NewArrival, PlacedRow } from "./lane-memory.ts";
import { packList, TextStatement } from "./text-statement.ts";

/** A lane that waits in the file. */
interface LaneRow extends EndColumns {
  readonly key: string;
  /** Since when the lane waits, in ms since 1970. */
  readonly ready_at: number;
}

/** A lane that waits or whose lease has expired. */
interface Candidate {
  readonly key: string;
  /** Since when the lane waits, in ms since 1970. */
  readonly since: number;
  readonly from: Lane | LaneRow;
}

/** A lane to claim, and its first event. */
export interface ReadyLane {
  readonly key: string;
  readonly from: Lane | LaneRow;
  readonly head: PlacedRow;
  /** The event, if it is in memory. It is then the lane's only one. */
  readonly arrival: NewArrival | undefined;
  readonly demand: Demand;
}

/** Number of lanes to look at if the first ones do not fit the demands. */
const MAX_REACH = 64;

const READY = "SELECT key, ready_at, done_ord, done_at FROM lane WHERE ready_at <= +?";

const statementsIn = (db: Database) => ({
  ready: new TextStatement<[now: number, limit: number], LaneRow>(
    db,
    `${READY} ORDER BY ready_at, key LIMIT +?`,
  ),
  readyWithin: new TextStatement<[now: number, full: string, limit: number], LaneRow>(
    db,
    `${READY} AND coalesce((
       SELECT type FROM event WHERE event.lane = lane.key AND state = 'pending' ORDER BY ord, seq LIMIT 1
     ) NOT IN (SELECT value FROM json_each(+?)), true)
     ORDER BY ready_at, key LIMIT +?`,
  ),
  next: db
    .prepare<[], number | null>("SELECT min(ready_at) FROM lane WHERE ready_at IS NOT NULL")
    .pluck(),
  head: new TextStatement<[lane: string], PlacedRow>(
    db,
    `SELECT seq, id, type, body, ord, source, attempts, crashes, received_at, trace FROM event
     WHERE lane = +? AND state = 'pending' ORDER BY ord, seq LIMIT 1`,
  ),
});

/** Finds the lanes that may be claimed: those that wait in memory or in the file, and those whose lease has expired. */
export class ReadyLanes {
  readonly #sql: ReturnType<typeof statementsIn>;
  readonly #memory: LaneMemory;
  /** No lease ends earlier, in ms since 1970. */
  #firstEnd = Number.NEGATIVE_INFINITY;

  constructor(db: Database, memory: LaneMemory) {
    this.#sql = statementsIn(db);
    this.#memory = memory;
  }

  /** Takes slots for lanes, longest waiting first. The lanes are in key order. */
  takeSlots(demands: Demands, now: number): readonly ReadyLane[] {
    const ready = new Map<string, ReadyLane>();
    const limit = demands.left;
    for (let reach = limit; ready.size < limit; ) {
      const candidates = this.#candidates(demands, reach, now);
      let isCorrected = false;
      for (const candidate of candidates) {
        if (ready.size === limit || ready.has(candidate.key)) continue;
        const event = this.#firstOf(candidate, now);
        // Other lanes may take the place of a lane that turns out not to be ready.
        if (event === undefined) isCorrected = true;
        else takeSlotFor(candidate, event, demands, ready);
      }
      if (isCorrected) continue;
      if (reach >= MAX_REACH || candidates.length < reach) break;
      // Some lanes do not fit, because a demand accepts only one type.
      reach = MAX_REACH;
    }
    return [...ready.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Returns the lane's first pending event. */
  head(key: string): PlacedRow | undefined {
    return this.#sql.head.get(key);
  }

  /** Returns when a lane can be claimed, in ms since 1970. `undefined` if every lane is idle. */
  nextAt(): number | undefined {
    const { first, leased } = this.#memory;
    const inFile = this.#sql.next.get() ?? Number.POSITIVE_INFINITY;
    let next = Math.min(inFile, first?.waitingSince ?? Number.POSITIVE_INFINITY);
    for (const { leasedUntil } of leased) next = Math.min(next, leasedUntil);
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  /** Must be called for each new lease. */
  noteLease(until: number): void {
    this.#firstEnd = Math.min(this.#firstEnd, until);
  }

  /** Called once a transaction is rolled back, because its leases have been restored. */
  undone(): void {
    this.#firstEnd = Number.NEGATIVE_INFINITY;
  }

  /** Returns lanes that may be ready, longest waiting first. Without full types, returns about `limit` lanes. */
  #candidates({ fullTypes }: Demands, limit: number, now: number): readonly Candidate[] {
    // Lanes whose first event has a type without room are skipped, so all lanes in memory may be needed.
    const inMemory = this.#memory
      .waiting(fullTypes.length === 0 ? limit : Number.POSITIVE_INFINITY)
      .map((lane) => ({ key: lane.key, since: lane.waitingSince ?? now, from: lane }));
    const inFile = this.#inFile(fullTypes, limit, now);
    const expired = this.#expired(now);
    if (inFile.length === 0 && expired.length === 0) return inMemory;
    return [...inFile, ...inMemory, ...expired].sort(
      (a, b) => a.since - b.since || (a.key < b.key ? -1 : 1),
    );
  }

  #inFile(fullTypes: readonly string[], limit: number, now: number): Candidate[] {
    const rows =
      fullTypes.length === 0
        ? this.#sql.ready.all(now, limit)
        : this.#sql.readyWithin.all(now, packList(fullTypes), limit);
    return rows.map((row) => ({ key: row.key, since: row.ready_at, from: row }));
  }

  #expired(now: number): Candidate[] {
    if (now < this.#firstEnd) return [];
    const expired: Candidate[] = [];
    this.#firstEnd = Number.POSITIVE_INFINITY;
    for (const lane of this.#memory.leased) {
      const { key, leasedUntil } = lane;
      this.noteLease(leasedUntil);
      if (leasedUntil <= now) expired.push({ key, since: leasedUntil, from: lane });
    }
    return expired;
  }

  /** Returns a lane's first event. If nothing can be claimed, corrects what said so. */
  #firstOf({ key, from }: Candidate, now: number): Pick<ReadyLane, "head" | "arrival"> | undefined {
    const lane = this.#memory.get(key);
    if (lane?.claim !== undefined && lane.leasedUntil > now) {
      this.#memory.rest(key);
      this.#memory.addEvent(lane);
      return undefined;
    }
    const arrival = "arrival" in from ? from.arrival : undefined;
    const head = arrival === undefined ? this.head(key) : rowOf(arrival);
    if (head !== undefined) return { head, arrival };
    if ("done_ord" in from) this.#memory.rest(key);
    if (lane !== undefined) this.#memory.release(lane);
    return undefined;
  }
}

function takeSlotFor(
  { key, from }: Candidate,
  event: Pick<ReadyLane, "head" | "arrival">,
  demands: Demands,
  ready: Map<string, ReadyLane>,
): void {
  const { type, crashes } = event.head;
  const demand = demands.find(type, crashes + 1 >= SUSPECT_CRASHES);
  if (demand === undefined) return;
  takeSlot(demand, type);
  ready.set(key, { key, from, ...event, demand });
}

/** Returns the row of an event that has just been stored. */
export function rowOf({ seq, event, source, trace, at }: NewArrival): PlacedRow {
  const { id, type, body, ord } = event;
  return { seq, id, type, body, ord, source, trace, attempts: 0, crashes: 0, received_at: at };
}
