import type { Database } from "better-sqlite3";
import { type Linked, LinkedSet } from "../../core/churn.ts";
import type { Claim } from "../inbox.ts";
import { isLate, isTimed, UNTIMED_MARK } from "../lateness.ts";
import { HeadClaim, type HeadRow } from "../sql/sql-inbox.ts";
import type { History } from "./history.ts";
import { packList, TextStatement, type Values } from "./text-statement.ts";

/** A pending event. */
export interface PlacedRow extends HeadRow {
  readonly seq: number;
  readonly ord: string;
  /** The event in `body`. Absent if the row was read from the file. */
  readonly event?: Claim["event"];
}

/** A claim in this store, with the position of its event. */
export class PlacedClaim extends HeadClaim {
  readonly seq: number;
  readonly ord: string;
  readonly event: Claim["event"];

  constructor(lane: Lane, fence: number, head: PlacedRow) {
    super({ lane: lane.key, fence, late: isLateIn(lane, head) }, head);
    this.seq = head.seq;
    this.ord = head.ord;
    this.event = head.event;
  }
}

interface LaneRow {
  readonly key: string;
  /** Since when, or until when, the lane waits in the file. */
  readonly ready_at: number | null;
  readonly done_ord: string | null;
  readonly done_at: number | null;
}

/** A lane that is idle, waits, or is leased. Times are in ms since 1970. */
export class Lane implements Linked<Lane> {
  readonly key: string;
  /** Sort key of the last event that ended in time. Empty if there was none. */
  endedOrd: string;
  /** When that event ended. While there is none, when any event last ended. */
  endedAt: number;
  /** True if the lane's row lacks the last event that ended. */
  isUnwritten = false;
  /** Since when the lane waits, or until when it is leased. `undefined` if the lane is idle. */
  readyAt: number | undefined;
  /** True while the lane waits in the file. */
  isInFile: boolean;
  /** The only pending event of a lane that waits. `undefined` if there may be others, or if the event is long. */
  arrival: PlacedRow | undefined;
  /** `undefined` unless the lane is leased. */
  claim: PlacedClaim | undefined;
  /** True if a leased lane may have other pending events. */
  hasMore = false;
  previous: Lane | undefined;
  next: Lane | undefined;

  constructor(key: string, row: LaneRow | undefined) {
    this.key = key;
    this.endedOrd = row?.done_ord ?? "";
    this.endedAt = row?.done_at ?? 0;
    this.readyAt = row?.ready_at ?? undefined;
    this.isInFile = this.readyAt !== undefined;
  }
}

export type LeasedLane = Lane & { readonly claim: PlacedClaim; readonly readyAt: number };

/** Number of lanes in memory above which each end writes some rows, and how many. Idle lanes are then forgotten. */
const MAX_LANES = 20_000;
const BATCH = 5;

/** Maximum number of lanes that wait in memory. Further lanes wait in the file. */
const MAX_WAITING = 5_000;

/** Maximum length of an event in memory, in characters. Longer events are read back from the file. */
const MAX_LENGTH = 1_000;

export const HEAD = "seq, id, type, body, ord, source, attempts, crashes, received_at, trace";

const statementsIn = (db: Database) => ({
  find: new TextStatement<Values, LaneRow>(
    db,
    `SELECT key, ready_at, done_ord, done_at FROM lane WHERE key = ?
     UNION ALL SELECT key, NULL, done_ord, done_at FROM resting_lane WHERE key = ? LIMIT 1`,
  ),
  ready: new TextStatement<Values, LaneRow>(
    db,
    `SELECT key, ready_at, done_ord, done_at FROM lane
     WHERE ready_at <= +? AND (+? = '[]' OR coalesce((
       SELECT type FROM event WHERE event.lane = lane.key AND state = 'pending' ORDER BY ord, seq LIMIT 1
     ) NOT IN (SELECT value FROM json_each(+?)), true))
     ORDER BY ready_at, key LIMIT +?`,
  ),
  next: db
    .prepare<[], number | null>("SELECT min(ready_at) FROM lane WHERE ready_at IS NOT NULL")
    .pluck(),
  leased: new TextStatement<[], PlacedRow & { lane: string; fence: number; leased_until: number }>(
    db,
    `SELECT ${HEAD}, lane, fence, leased_until FROM event
     WHERE state = 'pending' AND leased_until IS NOT NULL`,
  ),
  // A lane in memory may have a time from another process, which stays unless there is a new one.
  save: new TextStatement<Values>(
    db,
    `INSERT INTO lane (key, ready_at, done_ord, done_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET ready_at = coalesce(excluded.ready_at, ready_at),
       done_ord = excluded.done_ord, done_at = excluded.done_at`,
  ),
  rest: new TextStatement<Values>(db, "UPDATE lane SET ready_at = NULL WHERE key = ?"),
  // Rows of lanes include every event that ended before the mark.
  mark: db.prepare<[at: string]>("UPDATE cursor SET position = ? WHERE name = 'lanes'"),
  // Compares the times as they were written, even if the clock was set back. Skips what can make no event late.
  endedSinceMark: new TextStatement<[], EndedRow>(
    db,
    `SELECT lane, ord, received_at, done_at FROM event
     WHERE state <> 'pending' AND attempts > 0 AND ord <> '' AND substr(ord, -1) <> '${UNTIMED_MARK}'
       AND done_at >= (SELECT CAST(position AS INTEGER) FROM cursor WHERE name = 'lanes')
     ORDER BY done_at, fence`,
  ),
  // Lanes are ordered by their oldest event. No time is in the future, even after a clock change.
  wake: db.prepare<Values>(
    `INSERT INTO lane (key, ready_at)
     SELECT lane, min(min(received_at), ?) FROM event
     WHERE state = 'pending' AND lane NOT IN (SELECT key FROM lane WHERE ready_at > ?)
     GROUP BY lane HAVING max(leased_until) IS NULL
     ON CONFLICT (key) DO UPDATE SET ready_at = excluded.ready_at`,
  ),
});

/** An event that has ended. */
interface EndedRow extends Pick<PlacedRow, "ord" | "received_at"> {
  readonly lane: string;
  readonly done_at: number;
}

/**
 * The lanes of a file that are leased, wait, or were active a short time ago. Only this process uses the file, so a
 * lane's row is written late and together with others: a row per event would write a page of the file per event. The
 * rows of the events have all that is missing in the lanes' rows. A rollback therefore discards the lanes in memory,
 * and the next transaction reads them from the file, as the next start would after a kill.
 *
 * A lane whose row has a time waits in the file, and is not in memory. Another process may give any lane a time.
 *
 * Every change must be made inside a transaction.
 */
export class Lanes {
  readonly #sql: ReturnType<typeof statementsIn>;
  #lanes = new Map<string, Lane>();
  /** Longest first. */
  #waiting = new LinkedSet<Lane>();
  #leased = new LinkedSet<Lane>();
  /** Unwritten lanes that the current round has yet to write, in reverse key order. */
  #round: Lane[] = [];
  /** When the current round began, in ms since 1970. */
  #roundSince = 0;
  #areDiscarded = false;

  constructor(db: Database) {
    this.#sql = statementsIn(db);
  }

  get leased(): Iterable<Lane> {
    return this.#leased;
  }

  get areDiscarded(): boolean {
    return this.#areDiscarded;
  }

  /** Must be called after a rollback. */
  discard(): void {
    this.#lanes = new Map();
    this.#waiting = new LinkedSet();
    this.#leased = new LinkedSet();
    this.#round = [];
    this.#areDiscarded = true;
  }

  /**
   * Ends the runs of an earlier process, and restores its lanes. Called when the file is opened, while this process
   * holds the lock.
   */
  recover(history: History, now: number): void {
    history.recover(now);
    this.restore(now, now);
  }

  /**
   * Writes what the lanes' rows lack, and reads the leases. Called for a new file, and after lanes were discarded.
   *
   * @param dueAt lanes that are due by then are ordered anew, by their oldest event. Default: none
   */
  restore(now: number, dueAt?: number): void {
    this.wake(now, dueAt);
    for (const row of this.#sql.endedSinceMark.all()) {
      const lane = this.find(row.lane);
      if (isLateIn(lane, row)) continue;
      lane.endedOrd = row.ord;
      lane.endedAt = row.done_at;
      this.#save(lane);
    }
    this.#sql.mark.run(String(now));
    for (const row of this.#sql.leased.all()) {
      const lane = this.find(row.lane);
      this.lease(lane, new PlacedClaim(lane, row.fence, row), row.leased_until, true);
    }
    this.#areDiscarded = false;
  }

  /** Lets idle lanes with pending events wait in the file. Returns their number. */
  wake(now: number, dueAt = -1): number {
    return this.#sql.wake.run(now, dueAt).changes;
  }

  find(key: string): Lane {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane = new Lane(key, this.#sql.find.get(key, key));
    if (!lane.isInFile) this.#lanes.set(key, lane);
    return lane;
  }

  /** Returns a claim's lane, or `undefined` if the claim has lost its lease. */
  leasedBy({ lane: key, fence }: Claim): LeasedLane | undefined {
    const lane = this.#lanes.get(key);
    return lane?.claim?.fence === fence ? (lane as LeasedLane) : undefined;
  }

  /**
   * Returns lanes that may be claimed, longest waiting first: about `limit` lanes, and those whose lease has expired.
   * Lanes that have waited equally long are in key order. With full types, returns all lanes that wait in memory,
   * because their first events may have these types.
   */
  ready(limit: number, fullTypes: readonly string[], now: number): readonly Lane[] {
    const waiting: Lane[] = [];
    const inFile = this.#readyInFile(limit, fullTypes, now);
    for (const lane of this.#waiting) {
      const isEnough = fullTypes.length === 0 && waiting.length >= limit;
      if (isEnough && lane.readyAt !== waiting.at(-1)?.readyAt) break;
      waiting.push(lane);
    }
    const expired = [...this.#leased].filter(
      ({ readyAt }) => readyAt !== undefined && readyAt <= now,
    );
    return [...inFile, ...waiting, ...expired].sort(byReadiness);
  }

  /** Returns when a lane can be claimed, in ms since 1970. `undefined` if every lane is idle. */
  nextReadyAt(): number | undefined {
    if (this.#areDiscarded) return 0;
    const never = Number.POSITIVE_INFINITY;
    let next = Math.min(this.#sql.next.get() ?? never, this.#waiting.first?.readyAt ?? never);
    for (const { readyAt = never } of this.#leased) next = Math.min(next, readyAt);
    return next === never ? undefined : next;
  }

  /** Notes that a lane has got an event. */
  addEvent(lane: Lane, event: PlacedRow): void {
    if (lane.claim !== undefined) lane.hasMore = true;
    // The event may come before the waiting one. In the file, the lane will find the event.
    else if (lane.readyAt !== undefined) lane.arrival = undefined;
    else if (this.#waiting.size >= MAX_WAITING) this.postpone(lane, event.received_at);
    else {
      lane.readyAt = event.received_at;
      if (event.body.length <= MAX_LENGTH) lane.arrival = event;
      this.#waiting.add(lane);
    }
  }

  lease(lane: Lane, claim: PlacedClaim, until: number, hasMore: boolean): void {
    this.release(lane);
    // A claim may have chosen the lane before it read that another process had let the lane wait in the file.
    this.#lanes.set(lane.key, lane);
    lane.claim = claim;
    lane.readyAt = until;
    lane.hasMore = hasMore;
    this.#leased.add(lane);
  }

  /** Makes a lane idle, and takes it over if it waits in the file. */
  release(lane: Lane): void {
    if (lane.isInFile) {
      this.#sql.rest.run(lane.key);
      this.#lanes.set(lane.key, lane);
    } else if (lane.claim !== undefined) this.#leased.delete(lane);
    else this.#waiting.delete(lane);
    lane.isInFile = false;
    lane.readyAt = undefined;
    lane.arrival = undefined;
    lane.claim = undefined;
    lane.hasMore = false;
  }

  /** Closes a lane until a time, in the file. */
  postpone(lane: Lane, until: number): void {
    this.release(lane);
    this.#save(lane, until);
    this.#lanes.delete(lane.key);
  }

  /** Notes that an event has ended. */
  noteEnd(lane: Lane, { ord, late }: PlacedClaim, now: number): void {
    const isInTime = isTimed(ord) && !late;
    if (!isInTime && lane.endedOrd !== "") return;
    if (isInTime) lane.endedOrd = ord;
    lane.endedAt = now;
    lane.isUnwritten = true;
    if (this.#lanes.size > MAX_LANES) this.write(BATCH, now);
  }

  /**
   * Writes the rows of up to `limit` lanes. A round writes all lanes in key order, because neighbouring rows share a
   * page. After a round, the rows include every event that ended before it.
   */
  write(limit: number, now: number): void {
    if (this.#round.length === 0) this.#beginRound(now);
    for (const lane of this.#round.splice(-limit)) if (lane.isUnwritten) this.#save(lane);
    if (this.#round.length === 0) this.#sql.mark.run(String(this.#roundSince));
  }

  /** Moves all lanes but the leased ones into the file, because other statements are about to use the rows. */
  writeAll(now: number): void {
    for (const lane of [...this.#lanes.values()].sort(byKey)) {
      const waitsSince = lane.claim === undefined ? lane.readyAt : undefined;
      if (lane.isUnwritten || waitsSince !== undefined) this.#save(lane, waitsSince);
    }
    for (const lane of this.#leased) lane.hasMore = true;
    this.#lanes = new Map([...this.#leased].map((lane) => [lane.key, lane]));
    this.#waiting = new LinkedSet();
    this.#round = [];
    this.#sql.mark.run(String(now));
  }

  #readyInFile(limit: number, fullTypes: readonly string[], now: number): readonly Lane[] {
    const full = packList(fullTypes);
    const rows = this.#sql.ready.all(now, full, full, limit);
    const known = rows.filter(({ key }) => this.#lanes.has(key));
    if (known.length === 0) return rows.map((row) => new Lane(row.key, row));
    // Another process has given these lanes a time, because they may have got an event.
    for (const { key, ready_at: since } of known) {
      const lane = this.find(key);
      if (lane.claim === undefined) this.postpone(lane, since ?? now);
      else {
        this.#sql.rest.run(key);
        lane.hasMore = true;
      }
    }
    return this.#readyInFile(limit, fullTypes, now);
  }

  /** @param time since when or until when the lane waits in the file. `undefined` if the lane does not wait there */
  #save(lane: Lane, time?: number): void {
    this.#sql.save.run(lane.key, time ?? null, lane.endedOrd || null, lane.endedAt || null);
    lane.isUnwritten = false;
  }

  #beginRound(now: number): void {
    if (this.#lanes.size > MAX_LANES) {
      const isNeeded = (lane: Lane) => lane.isUnwritten || lane.readyAt !== undefined;
      this.#lanes = new Map([...this.#lanes].filter(([, lane]) => isNeeded(lane)));
    }
    const unwritten = [...this.#lanes.values()].filter(({ isUnwritten }) => isUnwritten);
    this.#round = unwritten.sort(byKey).reverse();
    this.#roundSince = now;
  }
}

function isLateIn(
  lane: Lane,
  { ord, received_at: receivedAt }: Pick<PlacedRow, "ord" | "received_at">,
): boolean {
  return isLate({ ord, receivedAt }, { ord: lane.endedOrd, at: lane.endedAt });
}

function byKey(a: Lane, b: Lane): number {
  return a.key < b.key ? -1 : 1;
}

function byReadiness(a: Lane, b: Lane): number {
  return (a.readyAt ?? 0) - (b.readyAt ?? 0) || byKey(a, b);
}
