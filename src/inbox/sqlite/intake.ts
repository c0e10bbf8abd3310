import { statfsSync, statSync } from "node:fs";
import type { Database, Statement } from "better-sqlite3";
import type { Clock } from "../../core/clock.ts";
import { ServiceBotError } from "../../errors.ts";
import { channels } from "../../observe/channels.ts";
import type { DiskMeasures } from "../admin.ts";
import type { CursorMove, NewEvent, PutResult, Source } from "../inbox.ts";
import type { GroupCommit } from "./store.ts";

/** Lanes that may wait to be written. More would hold up a claim for over 30 ms. */
const MAX_DIRTY_LANES = 5_000;

/** Events that are put in together. */
export interface Batch {
  readonly events: readonly NewEvent[];
  readonly source: Source;
  readonly cursors: readonly CursorMove[];
  readonly trace: string | undefined;
}

interface StoredBatch {
  readonly result: PutResult;
  /** The lane of each event that is pending. */
  readonly lanes: readonly string[];
  readonly now: number;
}

/** The columns of a new event, in the order of the statement. */
type EventRow = [
  id: string,
  lane: string,
  ord: string,
  type: string,
  body: string,
  source: Source,
  state: "pending" | "dead",
  receivedAt: number,
  endedAt: number | null,
  error: string | null,
  trace: string | null,
];

/** Stores batches of events, with the cursors that were read with them. */
export class Intake {
  readonly #group: GroupCommit;
  readonly #clock: Clock;
  readonly #dirty = new DirtyLanes();
  // By place: looking values up by name costs as much as the row does.
  readonly #insert: Statement<EventRow>;
  readonly #wakeLane: Statement<[lane: string, events: number, at: number]>;
  readonly #moveCursor: Statement<[name: string, position: string]>;
  readonly #noteType: Statement<[type: string]>;
  /** Types that are in the file for certain. */
  readonly #noted = new Set<string>();

  constructor(db: Database, group: GroupCommit, clock: Clock) {
    this.#group = group;
    this.#clock = clock;
    this.#insert = db.prepare(
      `INSERT INTO event (id, lane, ord, type, body, source, state, received_at, done_at, error,
         trace)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO NOTHING`,
    );
    // A lane that is leased or waits for a retry keeps its time: its order is worth more than its speed.
    this.#wakeLane = db.prepare(
      `INSERT INTO lane (key, pending, ready_at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE
         SET pending = pending + excluded.pending, ready_at = coalesce(ready_at, excluded.ready_at)`,
    );
    this.#moveCursor = db.prepare(
      `INSERT INTO cursor (name, position) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
    );
    this.#noteType = db.prepare(
      "INSERT INTO webhook_type (type) VALUES (?) ON CONFLICT (type) DO NOTHING",
    );
  }

  /** True if lanes have new events that are not written yet. */
  get hasDirtyLanes(): boolean {
    return this.#dirty.size > 0;
  }

  /** Resolves once the batch is on the disk. */
  async put(batch: Batch): Promise<PutResult> {
    const { result, lanes, now } = await this.write((now) => this.#store(batch, now));
    if (batch.source === "webhook") this.#markCommitted(batch.events);
    this.#dirty.add(lanes, now);
    return result;
  }

  /** Stores the events that `take` makes in the same transaction. */
  async putOwn(take: (now: number) => readonly NewEvent[]): Promise<PutResult> {
    const { result, lanes, now } = await this.write((now) => {
      const batch: Batch = { events: take(now), source: "poll", cursors: [], trace: undefined };
      return this.#store(batch, now);
    });
    this.#dirty.add(lanes, now);
    return result;
  }

  /** Runs work in a transaction, with the time of the store. */
  write<T>(work: (now: number) => T): Promise<T> {
    return this.#group.write(() => work(this.#clock.now()));
  }

  /** Runs work in a transaction in which the lanes of all committed events are written. */
  async writeWithLanes<T>(work: (now: number) => T): Promise<T> {
    const dirty = this.#dirty.take();
    try {
      return await this.write((now) => {
        this.#wake(dirty);
        return work(now);
      });
    } catch (error) {
      this.#dirty.giveBack(dirty);
      throw error;
    }
  }

  #store(batch: Batch, now: number): StoredBatch {
    const { result, lanes } = this.#insertAll(batch, now);
    if (this.#dirty.size < MAX_DIRTY_LANES) return { result, lanes, now };
    // While all places are taken, no claim writes them, and what is put off would fill the memory.
    const dirty = new DirtyLanes();
    dirty.add(lanes, now);
    this.#wake(dirty.take());
    return { result, lanes: [], now };
  }

  #insertAll({ events, source, cursors, trace }: Batch, now: number): Omit<StoredBatch, "now"> {
    const stored: string[] = [];
    const lanes: string[] = [];
    let unusable = 0;
    for (const event of events) {
      if (!this.#insertEvent(event, source, now, trace ?? null)) continue;
      stored.push(event.id);
      if (event.unusable === undefined) lanes.push(event.lane);
      else unusable += 1;
    }
    if (source === "webhook") this.#noteTypes(events);
    for (const { name, position } of cursors) this.#moveCursor.run(name, position);
    const duplicates = events.length - stored.length;
    return { result: { stored, duplicates, unusable }, lanes };
  }

  #insertEvent(event: NewEvent, source: Source, now: number, trace: string | null): boolean {
    const { id, type, lane, ord, body, unusable = null } = event;
    const [state, endedAt] =
      unusable === null ? ["pending" as const, null] : ["dead" as const, now];
    const { changes } = this.#insert.run(
      ...[id, lane, ord, type, body, source, state, now, endedAt, unusable, trace],
    );
    return changes > 0;
  }

  #wake(dirty: LaneArrivals): void {
    for (const [lane, { events, at }] of dirty) this.#wakeLane.run(lane, events, at);
  }

  #noteTypes(events: readonly NewEvent[]): void {
    for (const { type } of events) if (!this.#noted.has(type)) this.#noteType.run(type);
  }

  /** The types of a committed batch need not be written again. */
  #markCommitted(events: readonly NewEvent[]): void {
    for (const { type } of events) this.#noted.add(type);
  }
}

/** How many events came for each lane, and when the first of them did, in ms since 1970. */
type LaneArrivals = ReadonlyMap<string, { readonly events: number; readonly at: number }>;

/**
 * Lanes that have events since they were last written. A claim writes each of them anyway, so they are written then, once
 * for all their events: with each batch, that would touch a page of the file for each event. The events are on the disk,
 * and a start looks which lanes have some.
 */
class DirtyLanes {
  #lanes = new Map<string, { events: number; readonly at: number }>();

  get size(): number {
    return this.#lanes.size;
  }

  /**
   * @param lanes one for each event
   * @param at when they came
   */
  add(lanes: readonly string[], at: number): void {
    for (const lane of lanes) this.#add(lane, 1, at);
  }

  /** The caller writes them, or gives them back. */
  take(): LaneArrivals {
    const taken = this.#lanes;
    if (taken.size > 0) this.#lanes = new Map();
    return taken;
  }

  giveBack(taken: LaneArrivals): void {
    const later = this.#lanes;
    this.#lanes = new Map();
    for (const [lane, { events, at }] of [...taken, ...later]) this.#add(lane, events, at);
  }

  /** Keeps the earliest arrival time. */
  #add(lane: string, events: number, at: number): void {
    const arrival = this.#lanes.get(lane);
    if (arrival === undefined) this.#lanes.set(lane, { events, at });
    else arrival.events += events;
  }
}

export interface DiskGuardOptions {
  /** A folder on the disk. */
  readonly folder: string;
  /** New events are refused when less than this is free, in bytes. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  /** How much is free, in bytes; by default what the file system says. */
  readonly freeBytes?: (folder: string) => number;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
}

/** The default of `minFreeBytes`. */
export const MIN_FREE_BYTES: number = 64 * 1024 * 1024;

/** The file system is asked this often at most, in milliseconds. */
const INTERVAL_MS = 1_000;

/**
 * Refuses new events while the disk is nearly full. What is left is for the events that are under way:
 * an outcome or a step that cannot be written is worse than a delivery that comes again.
 */
export class DiskGuard {
  readonly #options: DiskGuardOptions;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #free = Number.POSITIVE_INFINITY;

  constructor(options: DiskGuardOptions) {
    this.#options = options;
  }

  /** Free space in bytes; `undefined` if the file system does not report it. */
  get free(): number | undefined {
    this.#look();
    return Number.isFinite(this.#free) ? this.#free : undefined;
  }

  get minFree(): number {
    return this.#options.minFreeBytes;
  }

  /** @throws {ServiceBotError} STORE_UNAVAILABLE */
  refuseWhenLow(): void {
    const { minFreeBytes, bot } = this.#options;
    this.#look();
    if (this.#free >= minFreeBytes) return;
    channels["store-failure"].publish({ bot, reason: "disk_low" });
    throw new ServiceBotError(
      "STORE_UNAVAILABLE",
      `The disk of the inbox has ${megabytes(this.#free)} free, and ${megabytes(minFreeBytes)} are kept for ` +
        "what is under way. Free some space; new events are taken again as soon as there is.",
    );
  }

  #look(): void {
    const { folder, clock, freeBytes = freeOn } = this.#options;
    const now = clock.now();
    // A clock that was set back must not blind it.
    if (Math.abs(now - this.#checkedAt) < INTERVAL_MS) return;
    this.#checkedAt = now;
    try {
      this.#free = freeBytes(folder);
    } catch {
      // Not every file system reports it. The commit itself would fail.
      this.#free = Number.POSITIVE_INFINITY;
    }
  }
}

/** How large the file of an inbox is, and what lies beside it. */
export function sizesOf(file: string): Pick<DiskMeasures, "database" | "wal"> {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return { database: sizeOf(file), wal: sizeOf(`${file}-wal`) };
}

function freeOn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MB`;
}
