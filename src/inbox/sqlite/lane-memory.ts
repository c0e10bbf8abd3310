import type { Database } from "better-sqlite3";
import { type Linked, LinkedSet } from "../../core/churn.ts";
import type { Claim, NewEvent, Source } from "../inbox.ts";
import { isLate, isTimed } from "../lateness.ts";
import { HeadClaim, type HeadRow } from "../sql/sql-inbox.ts";
import { TextStatement } from "./text-statement.ts";

/** A claim in this store, with the position of its event. */
export class PlacedClaim extends HeadClaim {
  readonly seq: number;
  readonly ord: string;
  readonly event: Claim["event"];

  constructor(lane: Lane, fence: number, head: PlacedRow, event?: Claim["event"]) {
    const { seq, ord, received_at: receivedAt } = head;
    const late = isLate({ ord, receivedAt }, { ord: lane.endedOrd, at: lane.endedAt });
    super({ lane: lane.key, fence, late }, head);
    this.seq = seq;
    this.ord = ord;
    this.event = event;
  }
}

/** A pending event. */
export interface PlacedRow extends HeadRow {
  readonly seq: number;
  readonly ord: string;
}

/** A new event in its row. */
export interface NewArrival {
  readonly seq: number;
  readonly event: NewEvent;
  readonly source: Source;
  readonly trace: string | null;
  /** Time when the event arrived, in ms since 1970. */
  readonly at: number;
}

/** A lane in memory: idle, waiting, or leased. Times are in ms since 1970. */
export interface Lane extends Linked<Lane> {
  readonly key: string;
  /** Sort key of the last event that ended in time. Empty if there was none. */
  endedOrd: string;
  /** When that event ended. While there is none, when any event last ended. */
  endedAt: number;
  /** True if an event has ended that the lane's row does not include. */
  isUnwritten: boolean;
  /** Since when the lane waits. `undefined` unless it waits. */
  waitingSince: number | undefined;
  /** The only pending event of a lane that waits. `undefined` if there may be others, or if memory is short. */
  arrival: NewArrival | undefined;
  /** `undefined` unless the lane is leased. */
  claim: PlacedClaim | undefined;
  /** End of the lease. */
  leasedUntil: number;
  /** True if a leased lane may have other pending events. */
  hasMore: boolean;
  /** The last transaction that changed the lane. */
  changedIn: number;
}

/** Records until when the rows of the lanes include every event that has ended. */
export const MARK_LANES = "UPDATE cursor SET position = ? WHERE name = 'lanes'";

/** Maximum number of lanes in memory. Idle lanes beyond it are read again when they are needed. */
const MAX_LANES = 10_000;

/** Maximum number of lanes that wait in memory. Further lanes wait in the file. */
const MAX_WAITING = 5_000;

/** Maximum total length of events in memory, in characters. Further events are read back from the file. */
const MAX_CHARACTERS = 4_000_000;

/** Number of unwritten lanes from which each end writes some, and how many. */
const MAX_UNWRITTEN = 10_000;
const BATCH = 50;

/** The columns of a lane's row about the last event that ended in time. */
export interface EndColumns {
  readonly done_ord: string | null;
  readonly done_at: number | null;
}

const statementsIn = (db: Database) => ({
  row: new TextStatement<[key: string], EndColumns & { readonly ready_at: number | null }>(
    db,
    "SELECT ready_at, done_ord, done_at FROM lane WHERE key = ?",
  ),
  resting: new TextStatement<[key: string], EndColumns>(
    db,
    "SELECT done_ord, done_at FROM resting_lane WHERE key = ?",
  ),
  write: new TextStatement<[key: string, ord: string, at: number]>(
    db,
    `INSERT INTO lane (key, done_ord, done_at) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET done_ord = excluded.done_ord, done_at = excluded.done_at`,
  ),
  markLanes: db.prepare<[at: string]>(MARK_LANES),
  // A lane that waits for a retry keeps its time, because order matters more than speed.
  wake: new TextStatement<[key: string, at: number]>(
    db,
    `INSERT INTO lane (key, ready_at) VALUES (?, ?)
     ON CONFLICT (key) DO UPDATE SET ready_at = coalesce(ready_at, excluded.ready_at)`,
  ),
  postpone: new TextStatement<[key: string, at: number]>(
    db,
    `INSERT INTO lane (key, ready_at) VALUES (?, ?)
     ON CONFLICT (key) DO UPDATE SET ready_at = excluded.ready_at`,
  ),
  rest: new TextStatement<[key: string]>(db, "UPDATE lane SET ready_at = NULL WHERE key = ?"),
});

/**
 * The lanes of a file that are leased, wait, or were active a short time ago. Only this process uses the file, so what
 * is in memory need not be in the file: leases, new events, and which event of a lane ended last. Rows are written late
 * and together, because a row per event would write a page of the file per event. {@link History} restores them after
 * a crash.
 *
 * A lane whose row has a time waits in the file, and is not in memory. Another process may give any lane a time.
 *
 * Every change must be made inside a transaction. A rollback undoes it.
 */
export class LaneMemory {
  readonly #sql: ReturnType<typeof statementsIn>;
  #lanes = new Map<string, Lane>();
  /** Longest first. */
  #waiting = new LinkedSet<Lane>();
  #leased = new LinkedSet<Lane>();
  #unwritten = new Set<Lane>();
  /** Unwritten lanes that the current round has yet to write, in reverse key order. */
  #round: Lane[] = [];
  /** When the current round began, in ms since 1970. */
  #roundSince = 0;
  /** Number of lanes above which idle lanes are forgotten. */
  #forgetAbove = MAX_LANES;
  #characters = 0;
  #transaction = 0;
  /** Lanes that this transaction has changed, as they were before. `undefined` for a lane that it has added. */
  readonly #before: (readonly [lane: Lane, before: Lane | undefined])[] = [];

  constructor(db: Database) {
    this.#sql = statementsIn(db);
  }

  get leased(): Iterable<Lane> {
    return this.#leased;
  }

  /** The lane that has waited longest in memory. */
  get first(): Lane | undefined {
    return this.#waiting.first;
  }

  /** Returns a lane if it is in memory. */
  get(key: string): Lane | undefined {
    return this.#lanes.get(key);
  }

  /** Returns a lane, or `undefined` if it waits in the file. */
  find(key: string): Lane | undefined {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const row = this.#sql.row.get(key);
    if (row !== undefined && row.ready_at !== null) return undefined;
    return this.#add(key, row ?? this.#sql.resting.get(key));
  }

  /** Takes over a lane that waits in the file. */
  takeFromFile(key: string, end: EndColumns): Lane {
    this.#sql.rest.run(key);
    return this.#lanes.get(key) ?? this.#add(key, end);
  }

  /** Notes that nothing in a lane waits, although its row has a time. */
  rest(key: string): void {
    this.#sql.rest.run(key);
  }

  /**
   * Returns the lanes that have waited longest: `limit` of them, and those that have waited as long as the last one.
   * Lanes that have waited equally long are in key order.
   */
  waiting(limit: number): Lane[] {
    const lanes: Lane[] = [];
    for (const lane of this.#waiting) {
      if (lanes.length >= limit && lane.waitingSince !== lanes.at(-1)?.waitingSince) break;
      lanes.push(lane);
    }
    return lanes.sort(bySince);
  }

  /** @param arrival the lane's only pending event */
  wait(lane: Lane, since: number, arrival?: NewArrival): void {
    if (this.#waiting.size >= MAX_WAITING) {
      this.#moveToFile(lane);
      this.#sql.wake.run(lane.key, since);
      return;
    }
    this.#change(lane);
    this.#makeIdle(lane);
    lane.waitingSince = since;
    const characters = arrival?.event.body.length ?? 0;
    if (arrival !== undefined && this.#characters + characters <= MAX_CHARACTERS) {
      lane.arrival = detached(arrival);
      this.#characters += characters;
    }
    this.#waiting.add(lane);
  }

  /** Closes a lane until a time, in the file. */
  postpone(lane: Lane, until: number): void {
    this.#moveToFile(lane);
    this.#sql.postpone.run(lane.key, until);
  }

  lease(lane: Lane, claim: PlacedClaim, until: number, hasMore: boolean): void {
    this.#change(lane);
    this.#makeIdle(lane);
    lane.claim = claim;
    lane.leasedUntil = until;
    lane.hasMore = hasMore;
    this.#leased.add(lane);
  }

  extend(lane: Lane, until: number): void {
    this.#change(lane).leasedUntil = until;
  }

  /** Notes that a lane has got another event, which may come before a waiting one. */
  addEvent(lane: Lane): void {
    this.#change(lane).hasMore = true;
    this.#dropArrival(lane);
  }

  /** Makes a lane idle. */
  release(lane: Lane): void {
    this.#change(lane);
    this.#makeIdle(lane);
  }

  /** Notes that an event has ended. */
  noteEnd(lane: Lane, { ord, late }: PlacedClaim, now: number): void {
    const isInTime = isTimed(ord) && !late;
    if (!isInTime && lane.endedOrd !== "") return;
    this.#change(lane);
    if (isInTime) lane.endedOrd = ord;
    lane.endedAt = now;
    lane.isUnwritten = true;
    this.#unwritten.add(lane);
    if (this.#unwritten.size > MAX_UNWRITTEN) this.write(BATCH, now);
  }

  /**
   * Writes the rows of up to `limit` lanes. A round writes all lanes in key order, because neighbouring rows share a
   * page. After a round, the rows include every event that ended before it.
   */
  write(limit: number, now: number): void {
    if (this.#round.length === 0) {
      this.#round = [...this.#unwritten].sort((a, b) => (a.key < b.key ? 1 : -1));
      this.#roundSince = now;
    }
    for (const lane of this.#round.splice(-limit)) this.#write(lane);
    if (this.#round.length === 0) this.#sql.markLanes.run(String(this.#roundSince));
  }

  /** Moves all lanes but the leased ones into the file, because other statements are about to use the rows. */
  writeAll(now: number): void {
    this.#round = [];
    this.write(this.#unwritten.size, now);
    for (const lane of this.waiting(this.#waiting.size)) {
      const { key, waitingSince = now } = lane;
      this.#moveToFile(lane);
      this.#sql.wake.run(key, waitingSince);
    }
    for (const lane of this.#leased) this.#change(lane).hasMore = true;
    this.#forget(({ claim }) => claim === undefined);
  }

  committed(): void {
    this.#before.length = 0;
    this.#transaction += 1;
    if (this.#lanes.size <= this.#forgetAbove) return;
    this.#forget(({ claim, waitingSince, isUnwritten }) => {
      return claim === undefined && waitingSince === undefined && !isUnwritten;
    });
    this.#forgetAbove = Math.max(MAX_LANES, 2 * this.#lanes.size);
  }

  undone(): void {
    for (const [lane, before] of this.#before.reverse()) {
      if (before === undefined) this.#lanes.delete(lane.key);
      else this.#lanes.set(lane.key, Object.assign(lane, before));
    }
    this.#before.length = 0;
    this.#transaction += 1;
    this.#round = [];
    this.#restoreSets();
  }

  #add(key: string, end: EndColumns | undefined): Lane {
    const lane: Lane = {
      key,
      endedOrd: end?.done_ord ?? "",
      endedAt: end?.done_at ?? 0,
      leasedUntil: 0,
      hasMore: false,
      isUnwritten: false,
      waitingSince: undefined,
      arrival: undefined,
      claim: undefined,
      changedIn: this.#transaction,
      previous: undefined,
      next: undefined,
    };
    this.#before.push([lane, undefined]);
    this.#lanes.set(key, lane);
    return lane;
  }

  /** Must be called before each change of a lane. */
  #change(lane: Lane): Lane {
    if (lane.changedIn === this.#transaction) return lane;
    this.#before.push([lane, { ...lane }]);
    lane.changedIn = this.#transaction;
    return lane;
  }

  #makeIdle(lane: Lane): void {
    this.#dropArrival(lane);
    if (lane.waitingSince !== undefined) this.#waiting.delete(lane);
    if (lane.claim !== undefined) this.#leased.delete(lane);
    lane.waitingSince = undefined;
    lane.claim = undefined;
    lane.hasMore = false;
  }

  #dropArrival(lane: Lane): void {
    this.#characters -= lane.arrival?.event.body.length ?? 0;
    lane.arrival = undefined;
  }

  #moveToFile(lane: Lane): void {
    this.#change(lane);
    this.#write(lane);
    this.#makeIdle(lane);
    this.#lanes.delete(lane.key);
  }

  #write(lane: Lane): void {
    if (!lane.isUnwritten) return;
    this.#sql.write.run(lane.key, lane.endedOrd, lane.endedAt);
    this.#change(lane).isUnwritten = false;
    this.#unwritten.delete(lane);
  }

  #forget(isIdle: (lane: Lane) => boolean): void {
    this.#lanes = new Map([...this.#lanes].filter(([, lane]) => !isIdle(lane)));
  }

  #restoreSets(): void {
    this.#waiting = new LinkedSet();
    this.#leased = new LinkedSet();
    this.#unwritten = new Set();
    this.#characters = 0;
    for (const lane of [...this.#lanes.values()].sort(bySince)) {
      lane.previous = undefined;
      lane.next = undefined;
      if (lane.waitingSince !== undefined) this.#waiting.add(lane);
      if (lane.claim !== undefined) this.#leased.add(lane);
      if (lane.isUnwritten) this.#unwritten.add(lane);
      this.#characters += lane.arrival?.event.body.length ?? 0;
    }
  }
}

/** Returns the arrival with a copy of its text, because a slice would keep its whole delivery in memory. */
function detached(arrival: NewArrival): NewArrival {
  const { event } = arrival;
  return { ...arrival, event: { ...event, body: Buffer.from(event.body).toString() } };
}

function bySince(a: Lane, b: Lane): number {
  return (a.waitingSince ?? 0) - (b.waitingSince ?? 0) || (a.key < b.key ? -1 : 1);
}
