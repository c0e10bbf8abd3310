import { randomUUID } from "node:crypto";
import { dirname, resolve } from "node:path";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { DiskMeasures, InboxMeasures } from "../admin.ts";
import type { Effects, FiredTimers, StoredState, StoredTimer } from "../effects.ts";
import type {
  Advance,
  Claim,
  ClaimRooms,
  CursorMove,
  Inbox,
  InboxCapabilities,
  NewEvent,
  PutResult,
  Source,
} from "../inbox.ts";
import { stateConflict } from "../sql/effects.ts";
import { MAX_BACKLOG, SqlInbox } from "../sql/sql-inbox.ts";
import { DirtyLanes } from "./dirty-lanes.ts";
import { EffectWriter, Timers } from "./effects.ts";
import { History } from "./history.ts";
import { DiskGuard, Intake, MIN_FREE_BYTES, sizesOf } from "./intake.ts";
import { Lanes } from "./lanes.ts";
import { MEMORY, type OpenFile, openFile } from "./open.ts";
import { sweepPhases } from "./retention.ts";
import { GroupCommit, readStore, SqliteStore, watchOthers } from "./store.ts";

export interface SqliteInboxOptions {
  /** Path of the file, or `:memory:`. A missing folder is created. */
  readonly file: string;
  readonly clock?: Clock;
  /** Maximum number of pending events before `put` refuses new events (INBOX_FULL). Default 100,000. */
  readonly maxBacklog?: number;
  /** Free space below which `put` refuses new events (STORE_UNAVAILABLE), in bytes. Default 64 MiB. */
  readonly minFreeBytes?: number;
  /** Returns the free bytes on a folder's disk. Asks the file system by default. */
  readonly freeBytes?: (folder: string) => number;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

/** Inbox in a SQLite file, for one process. */
export class SqliteInbox extends SqlInbox implements Inbox {
  readonly capabilities: InboxCapabilities;
  readonly shared = undefined;
  readonly #path: string;
  readonly #file: OpenFile;
  readonly #clock: Clock;
  readonly #maxBacklog: number;
  readonly #group: GroupCommit;
  readonly #intake: Intake;
  readonly #dirtyLanes: DirtyLanes;
  readonly #lanes: Lanes;
  readonly #effects: EffectWriter;
  readonly #timers: Timers;
  /** Absent for an in-memory inbox. */
  readonly #disk: DiskGuard | undefined;
  readonly #unwatch: () => void;
  /**
   * Number of pending events. It is updated incrementally, because counting rows for each batch would cost more than
   * storing the batch.
   */
  #pending: number;

  /** @throws {ServiceBotError} INBOX_IN_USE, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE */
  constructor(options: SqliteInboxOptions) {
    const file = openFile(options.file);
    const { db } = file;
    const [owner, history] = [randomUUID(), new History(db)];
    const clock = options.clock ?? systemClock;
    const dirtyLanes = new DirtyLanes(db);
    const group = new GroupCommit(db, dirtyLanes, options.bot);
    const intake = new Intake(db, group, dirtyLanes, clock);
    const store = new SqliteStore({
      db,
      now: () => clock.now(),
      write: (work) => intake.write(work),
      writeWithLanes: (work) => intake.writeWithLanes(work),
    });
    super({
      store,
      sweepPhases: sweepPhases(db),
      owner,
    });
    this.#path = options.file;
    this.#file = file;
    this.#clock = clock;
    this.#maxBacklog = options.maxBacklog ?? MAX_BACKLOG;
    this.#group = group;
    this.#intake = intake;
    this.#dirtyLanes = dirtyLanes;
    this.#effects = new EffectWriter(db);
    this.#timers = new Timers(db);
    this.#lanes = new Lanes(db, { owner, history, effects: this.#effects, dirtyLanes });
    this.#disk = makeGuard(options, clock);
    this.capabilities = { guardsDisk: this.#disk !== undefined };
    db.transaction(() => history.recover(clock.now())).immediate();
    this.#pending = store.countPending();
    this.#unwatch = watchOthers(db, clock, () => {
      this.#pending = store.countPending();
      this.announce();
    });
  }

  async put(
    events: readonly NewEvent[],
    source: Source,
    cursors: readonly CursorMove[] = [],
    trace?: string,
  ): Promise<PutResult> {
    const [pending, max] = [this.#pending, this.#maxBacklog];
    if (pending >= max) await this.refuseUnlessKnown(events, pending, max);
    this.#disk?.refuseWhenLow();
    const storing = this.#intake.put({ events, source, cursors, trace });
    // Announce before the commit, so that the next claim shares the transaction.
    if (events.length > 0) this.announce();
    const result = await storing;
    this.#countStored(result);
    return result;
  }

  claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<readonly Claim[]> {
    const work = (now: number) => this.#lanes.claim(limit, leaseMs, now, rooms);
    return this.#intake.write(work, true);
  }

  /** Does nothing, because no other process claims from the file. */
  stopClaiming(): void {}

  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly Claim[]> {
    return this.#intake.write((now) => this.#lanes.extend(claims, leaseMs, now));
  }

  complete(claim: Claim, effects?: Effects): Promise<boolean> {
    return this.#end(claim, undefined, effects);
  }

  bury(claim: Claim, error: string, effects?: Effects): Promise<boolean> {
    return this.#end(claim, error, effects);
  }

  async advance(claim: Claim, effects?: Effects, leaseMs?: number): Promise<Advance> {
    const work = (now: number) => this.#lanes.advance(claim, now, effects, leaseMs);
    const advance = await this.#intake.write(work, true);
    if (advance === "conflict") throw stateConflict();
    if (advance.held) this.#countEnded(effects);
    return advance;
  }

  retry(claim: Claim, delayMs: number, error: string): Promise<boolean> {
    return this.#intake.write((now) => this.#lanes.retry(claim, now, delayMs, error));
  }

  release(claim: Claim, delayMs: number, error?: string): Promise<boolean> {
    return this.#intake.write((now) => this.#lanes.release(claim, now, delayMs, error));
  }

  async states(keys: readonly string[]): Promise<readonly StoredState[]> {
    return readStore(() => this.#effects.states(keys));
  }

  async fireTimers(limit: number, toEvent: (timer: StoredTimer) => NewEvent): Promise<FiredTimers> {
    let fired = 0;
    if (this.#nextTimerIn() === 0) {
      const storing = this.#intake.putOwn((now) => {
        const due = this.#timers.takeDue(now, limit);
        fired = due.length;
        return due.map(toEvent);
      });
      this.announce();
      this.#countStored(await storing);
    }
    return { fired, nextInMs: this.#nextTimerIn() };
  }

  async nextReadyIn(): Promise<number | undefined> {
    const next = () => this.#lanes.nextReadyAt();
    const at = this.#dirtyLanes.hasSome ? await this.#intake.writeWithLanes(next) : readStore(next);
    return at === undefined ? undefined : Math.max(0, at - this.#clock.now());
  }

  heal(): Promise<number> {
    return this.#intake.writeWithLanes((now) => this.#lanes.heal(now));
  }

  async measure(): Promise<InboxMeasures> {
    return { ...(await this.reports.measure()), disk: this.#measureDisk() };
  }

  async close(): Promise<void> {
    if (!this.#file.db.open) return;
    this.#unwatch();
    const written = this.#intake.writeWithLanes(() => undefined);
    this.#group.close();
    // If this write fails, the next startup rebuilds the lanes.
    await written.catch(() => undefined);
    this.#file.close();
  }

  protected onDecided(pending: number): void {
    this.#pending += pending;
    this.announce();
  }

  async #end(claim: Claim, error?: string, effects?: Effects): Promise<boolean> {
    const ending = await this.#intake.write((now) => this.#lanes.end(claim, now, error, effects));
    if (ending === "conflict") throw stateConflict();
    if (ending === "ended") this.#countEnded(effects);
    return ending === "ended";
  }

  #countStored({ stored, unusable }: PutResult): void {
    this.#pending += stored.length - unusable;
  }

  #countEnded(effects: Effects | undefined): void {
    this.#pending -= 1;
    if (effects !== undefined) this.announceTimers(effects);
  }

  #nextTimerIn(): number | undefined {
    const at = readStore(() => this.#timers.nextDueAt());
    return at === undefined ? undefined : Math.max(0, at - this.#clock.now());
  }

  #measureDisk(): DiskMeasures | undefined {
    if (this.#disk === undefined) return undefined;
    const { free, minFree } = this.#disk;
    return { ...sizesOf(this.#path), free, minFree };
  }
}

function makeGuard(options: SqliteInboxOptions, clock: Clock): DiskGuard | undefined {
  const { file, minFreeBytes = MIN_FREE_BYTES, freeBytes, bot } = options;
  if (file === MEMORY) return undefined;
  const folder = dirname(resolve(file));
  return new DiskGuard({ folder, minFreeBytes, clock, bot, ...(freeBytes && { freeBytes }) });
}
