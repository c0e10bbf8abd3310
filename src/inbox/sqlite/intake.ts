import { statfsSync, statSync } from "node:fs";
import type { Database, RunResult } from "better-sqlite3";
import type { Clock } from "../../core/clock.ts";
import { ServiceBotError } from "../../errors.ts";
import { channels } from "../../observe/channels.ts";
import type { DiskMeasures } from "../admin.ts";
import type { CursorMove, NewEvent, PutResult, Source } from "../inbox.ts";
import { toStored } from "../stored-text.ts";
import { type GroupCommit, PHASES, type WriteOptions } from "./group-commit.ts";
import type { Lanes, PlacedRow } from "./lanes.ts";
import { TextStatement } from "./text-statement.ts";

/** Events that are stored in one transaction. */
export interface Batch {
  readonly events: readonly NewEvent[];
  readonly source: Source;
  readonly cursors: readonly CursorMove[];
  readonly trace: string | null;
}

/** Writes of new events. They are synced, because an acknowledgement follows. */
const ARRIVAL: WriteOptions = { phase: PHASES.arrivals };

/** Columns of every new event, in the order of the insert statements. */
type EventColumns = [
  id: string,
  lane: string,
  ord: string,
  type: string,
  body: string,
  source: Source,
  receivedAt: number,
  trace: string | null,
];

const COLUMNS = "id, lane, ord, type, body, source, received_at, trace";

/** Further columns of an event that cannot be handled. */
type DeadColumns = [error: string, endedAt: number];

// Values are bound by position, because binding by name would take as long as writing the row.
const statementsIn = (db: Database) => ({
  pending: db.prepare<EventColumns>(
    `INSERT INTO event (${COLUMNS}, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending')
     ON CONFLICT (id) DO NOTHING`,
  ),
  dead: db.prepare<[...EventColumns, ...DeadColumns]>(
    `INSERT INTO event (${COLUMNS}, state, error, done_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'dead', ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  ),
});

export class Intake {
  readonly #group: GroupCommit;
  readonly #clock: Clock;
  readonly #lanes: Lanes;
  readonly #insert: ReturnType<typeof statementsIn>;
  readonly #moveCursor: TextStatement<[name: string, position: string]>;
  readonly #noteType: TextStatement<[type: string]>;
  /** Types that are definitely in the file. */
  readonly #noted = new Set<string>();

  constructor(db: Database, group: GroupCommit, lanes: Lanes, clock: Clock) {
    this.#group = group;
    this.#lanes = lanes;
    this.#clock = clock;
    this.#insert = statementsIn(db);
    this.#moveCursor = new TextStatement(
      db,
      `INSERT INTO cursor (name, position) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
    );
    this.#noteType = new TextStatement(
      db,
      "INSERT INTO webhook_type (type) VALUES (?) ON CONFLICT (type) DO NOTHING",
    );
  }

  /** Resolves once the batch is on disk. @param stored called once after the commit */
  put(batch: Batch, stored: (result: PutResult) => void): Promise<PutResult> {
    return this.writeThen(
      (now) => this.#store(batch, now),
      (result) => {
        if (batch.source === "webhook") this.#markCommitted(batch.events);
        stored(result);
        return result;
      },
      ARRIVAL,
    );
  }

  /** Stores events. `take` creates them in the same transaction. */
  putOwn(take: (now: number) => readonly NewEvent[]): Promise<PutResult> {
    return this.write((now) => {
      const batch: Batch = { events: take(now), source: "poll", cursors: [], trace: null };
      return this.#store(batch, now);
    }, ARRIVAL);
  }

  /** Runs work in a transaction and passes it the store's time. See {@link GroupCommit.write}. */
  write<T>(work: (now: number) => T, options?: WriteOptions): Promise<T> {
    return this.#group.write(() => work(this.#clock.now()), options);
  }

  /** Like {@link write}, but resolves with the result of `committed`, which runs once after the commit. */
  writeThen<T, R>(
    work: (now: number) => T,
    committed: (value: T) => R,
    options?: WriteOptions,
  ): Promise<R> {
    return this.#group.writeThen(() => work(this.#clock.now()), committed, options);
  }

  /** Runs work in a transaction that first writes the rows of all lanes. */
  writeWithLanes<T>(work: (now: number) => T): Promise<T> {
    return this.write((now) => {
      this.#lanes.writeAll(now);
      return work(now);
    });
  }

  #store(batch: Batch, now: number): PutResult {
    const { events, source, cursors } = batch;
    const stored: string[] = [];
    let unusable = 0;
    for (const event of events) {
      const { changes, lastInsertRowid } = this.#insertEvent(event, batch, now);
      if (changes === 0) continue;
      stored.push(event.id);
      if (event.unusable !== undefined) {
        unusable += 1;
        continue;
      }
      const kept = events.length > 1 ? detached(event) : event;
      const placed = placedRowOf(kept, batch, Number(lastInsertRowid), now);
      this.#lanes.addEvent(this.#lanes.find(event.lane), placed);
    }
    if (source === "webhook") this.#noteTypes(events);
    for (const { name, position } of cursors) this.#moveCursor.run(name, position);
    return { stored, duplicates: events.length - stored.length, unusable };
  }

  #insertEvent(event: NewEvent, { source, trace }: Batch, now: number): RunResult {
    const { body, unusable } = event;
    // The other texts are ASCII or JSON, which escapes every character.
    const [id, lane] = [toStored(event.id), toStored(event.lane)];
    const [ord, type] = [toStored(event.ord), toStored(event.type)];
    const { pending, dead } = this.#insert;
    return unusable === undefined
      ? pending.run(id, lane, ord, type, body, source, now, trace)
      : dead.run(id, lane, ord, type, body, source, now, trace, unusable, now);
  }

  #noteTypes(events: readonly NewEvent[]): void {
    for (const { type } of events) if (!this.#noted.has(type)) this.#noteType.run(type);
  }

  #markCommitted(events: readonly NewEvent[]): void {
    for (const { type } of events) this.#noted.add(type);
  }
}

/** Returns the row of an event that has just been stored. */
function placedRowOf(
  { id, type, ord, body, event }: NewEvent,
  { source, trace }: Batch,
  seq: number,
  now: number,
): PlacedRow {
  const runs = { attempts: 0, crashes: 0 };
  return { seq, id, type, ord, body, event, source, trace, received_at: now, ...runs };
}

/** Returns a copy of an event that waits, because a slice would keep its whole delivery in memory. */
function detached(event: NewEvent): NewEvent {
  return { ...event, body: Buffer.from(event.body).toString() };
}

export interface DiskGuardOptions {
  /** A folder on the inbox's disk. */
  readonly folder: string;
  /** Free space below which new events are refused, in bytes. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  /** Returns the free bytes on a folder's disk. Asks the file system by default. */
  readonly freeBytes?: (folder: string) => number;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

export const MIN_FREE_BYTES: number = 64 * 1024 * 1024;

/** Interval at which free space is checked, in ms. */
const INTERVAL_MS = 1_000;

/**
 * Refuses new events while the disk is nearly full. The reserve is for running handlers. Losing an outcome or a step is
 * worse than refusing a delivery, because the platform retries the delivery.
 */
export class DiskGuard {
  readonly #options: DiskGuardOptions;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #free = Number.POSITIVE_INFINITY;

  constructor(options: DiskGuardOptions) {
    this.#options = options;
  }

  /** Free space in bytes, or `undefined` if the file system does not report it. */
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
      `The disk with the inbox has ${megabytes(this.#free)} free, but the bot keeps ${megabytes(minFreeBytes)} in ` +
        "reserve. Free up some space, and the bot will accept events again.",
    );
  }

  #look(): void {
    const { folder, clock, freeBytes = freeOn } = this.#options;
    const now = clock.now();
    // Compare in both directions, so that the checks continue if the clock is set back.
    if (Math.abs(now - this.#checkedAt) < INTERVAL_MS) return;
    this.#checkedAt = now;
    try {
      this.#free = freeBytes(folder);
    } catch {
      // Some file systems do not report free space. If such a disk is full, the commit itself fails.
      this.#free = Number.POSITIVE_INFINITY;
    }
  }
}

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
