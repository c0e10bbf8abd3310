import { dirname } from "node:path";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { DiskMeasures, InboxMeasures } from "../admin.ts";
import type { Effects, FiredTimers, StoredState, StoredTimer } from "../effects.ts";
import type { SkipReason } from "../event-records.ts";
import type {
  Advance,
  Claim,
  ClaimRooms,
  CursorMove,
  Inbox,
  InboxCapabilities,
  InboxProblem,
  NewEvent,
  PutResult,
  Source,
} from "../inbox.ts";
import { stateConflict } from "../sql/effects.ts";
import { type HowEnded, MAX_BACKLOG, SqlInbox } from "../sql/sql-inbox.ts";
import { EffectWriter, Timers } from "./effects.ts";
import type { FinishedExchange } from "./exchange.ts";
import { FileRescue } from "./file-rescue.ts";
import { type CommitDisk, GroupCommit, type WriteOptions } from "./group-commit.ts";
import { History } from "./history.ts";
import { DiskGuard, Intake, MIN_FREE_BYTES, sizesOf } from "./intake.ts";
import { LaneLeases } from "./lane-leases.ts";
import { Lanes } from "./lanes.ts";
import { type DiskFile, type OpenFile, openFile } from "./open.ts";
import { sweepPhases } from "./retention.ts";
import { OtherWriters, SqliteStore } from "./store.ts";
import { readStore } from "./store-error.ts";

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

/** A power loss may undo claims and outcomes. The events then run again, as after a crash. */
const OUTCOME: WriteOptions = { mayBeLost: true };

/** Interval at which the file is synced and checked for commits of other processes, in ms. */
const TICK_MS = 1_000;

/** Lanes whose rows are written with each sync. More would delay deliveries. */
const LANES_PER_WRITE = 500;

/** Inbox in a SQLite file, for one process. */
export class SqliteInbox extends SqlInbox implements Inbox {
  readonly capabilities: InboxCapabilities;
  readonly shared = undefined;
  readonly #file: OpenFile;
  readonly #clock: Clock;
  readonly #maxBacklog: number;
  readonly #group: GroupCommit;
  readonly #intake: Intake;
  readonly #lanes: Lanes;
  readonly #leases: LaneLeases;
  readonly #effects: EffectWriter;
  readonly #timers: Timers;
  /** Absent for an in-memory inbox. */
  readonly #disk: DiskGuard | undefined;
  /** Absent for an in-memory inbox. */
  readonly #rescue: FileRescue | undefined;
  readonly #others: OtherWriters;
  readonly #store: SqliteStore;
  #cancelTick: () => void = () => undefined;
  /**
   * Number of pending events. It is updated incrementally, because counting rows for each batch would cost more than
   * storing the batch.
   */
  #pending: number;

  /**
   * @throws {ServiceBotError} INBOX_IN_USE, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_LOST, INBOX_UNUSABLE
   */
  constructor(options: SqliteInboxOptions) {
    const file = openFile(options.file, options.bot);
    const { db, disk } = file;
    const [history, effects] = [new History(db), new EffectWriter(db)];
    const clock = options.clock ?? systemClock;
    const lanes = new Lanes(db);
    const leases = new LaneLeases(db, { lanes, history, effects, clock });
    // From here on, the group commit syncs.
    if (disk !== undefined) db.pragma("synchronous = NORMAL");
    const group = new GroupCommit(db, {
      memory: leases,
      disk: disk && commitDisk(disk),
      bot: options.bot,
      onSyncFailed: () => ifReadable(this.#recount),
    });
    const intake = new Intake(db, group, lanes, clock);
    const store = new SqliteStore({
      db,
      now: () => clock.now(),
      write: (work, options) => group.write(work, options),
      writeWithLanes: (work) => intake.writeWithLanes(work),
    });
    // The lock makes this process the only owner.
    super({ store, sweepPhases: sweepPhases(db), owner: "" });
    this.#file = file;
    this.#clock = clock;
    this.#maxBacklog = options.maxBacklog ?? MAX_BACKLOG;
    this.#group = group;
    this.#intake = intake;
    this.#effects = effects;
    this.#timers = new Timers(db);
    this.#lanes = lanes;
    this.#leases = leases;
    this.#disk = disk && makeGuard(disk.path, options, clock);
    this.#rescue = disk && new FileRescue({ db, ...disk, bot: options.bot });
    this.capabilities = { guardsDisk: this.#disk !== undefined };
    db.transaction(() => {
      lanes.recover(history, clock.now());
      disk?.watch.stamp();
    }).immediate();
    this.#pending = store.countPending();
    this.#store = store;
    this.#others = new OtherWriters(db);
    this.#tickLater();
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
    const batch = { events, source, cursors, trace: trace ?? null };
    const storing = this.#intake.put(batch, this.#countStored);
    // Announce before the commit, so that the next claim shares the transaction.
    if (events.length > 0) this.announce();
    return await storing;
  }

  claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<readonly Claim[]> {
    const work = (now: number) => this.#leases.claim(limit, leaseMs, now, rooms);
    return this.#intake.write(work, OUTCOME);
  }

  /** Does nothing, because no other process claims from the file. */
  stopClaiming(): void {}

  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly Claim[]> {
    return this.#intake.write((now) => this.#leases.extend(claims, leaseMs, now), OUTCOME);
  }

  advance(
    claim: Claim,
    effects?: Effects,
    leaseMs?: number,
    skipped?: SkipReason,
  ): Promise<Advance> {
    return this.#intake.writeThen(
      (now) => this.#leases.advance(claim, now, { effects, skipped }, leaseMs),
      (claims) => {
        if (claims === "conflict") throw stateConflict();
        if (claims === "lost") return { held: false };
        this.#countEnded(effects);
        return { held: true, next: claims[0] };
      },
      OUTCOME,
    );
  }

  retry(claim: Claim, delayMs: number, error: string): Promise<boolean> {
    return this.#postpone(claim, delayMs, "failed", error);
  }

  release(claim: Claim, delayMs: number, error?: string): Promise<boolean> {
    return this.#postpone(claim, delayMs, "released", error);
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
    // After a rollback, a transaction restores the lanes before its work.
    if (this.#lanes.areDiscarded) await this.#intake.write(() => undefined, OUTCOME);
    const at = readStore(() => this.#lanes.nextReadyAt());
    return at === undefined ? undefined : Math.max(0, at - this.#clock.now());
  }

  heal(): Promise<number> {
    return this.#intake.writeWithLanes((now) => this.#lanes.wake(now));
  }

  get problem(): InboxProblem | undefined {
    return this.#rescue?.problem;
  }

  get restore(): FinishedExchange | undefined {
    return this.#file.disk?.restore;
  }

  override async ping(): Promise<void> {
    this.#file.disk?.watch.check();
    await super.ping();
  }

  async measure(): Promise<InboxMeasures> {
    this.#file.disk?.watch.check();
    return { ...(await this.reports.measure()), disk: this.#measureDisk() };
  }

  async close(): Promise<void> {
    if (!this.#file.db.open) return;
    this.#cancelTick();
    // If this write fails, the next startup rebuilds the lanes.
    void this.#intake.writeWithLanes(() => undefined).catch(() => undefined);
    await this.#group.close();
    await this.#rescue?.close();
    this.#file.close();
  }

  protected onDecided(pending: number): void {
    this.#pending += pending;
    this.announce();
  }

  protected end(claim: Claim, how: HowEnded): Promise<boolean> {
    return this.#intake.writeThen(
      (now) => this.#leases.end(claim, now, how),
      (ending) => {
        if (ending === "conflict") throw stateConflict();
        if (ending === "ended") this.#countEnded(how.effects);
        return ending === "ended";
      },
      OUTCOME,
    );
  }

  #postpone(
    claim: Claim,
    delayMs: number,
    outcome: "failed" | "released",
    error: string | undefined,
  ): Promise<boolean> {
    const work = (now: number) => this.#leases.postpone(claim, now, delayMs, outcome, error);
    return this.#intake.write(work, OUTCOME);
  }

  #tickLater(): void {
    this.#cancelTick = this.#clock.timer(TICK_MS, () => this.#tick(), { background: true });
  }

  #tick(): void {
    this.#tickLater();
    ifReadable(() => this.#examine());
    ifReadable(() => this.#others.look(this.#recount));
    if (!this.#group.hasUnsynced) return;
    // The next tick tries again. The next outcome reports the failure.
    void this.#intake
      .write((now) => this.#lanes.write(LANES_PER_WRITE, now))
      .catch(() => undefined);
  }

  #examine(): void {
    const watch = this.#file.disk?.watch;
    watch?.examine();
    if (watch?.isStampOld !== true) return;
    // The next tick tries again.
    void this.#intake.write(() => watch.renewStamp(), OUTCOME).catch(() => undefined);
  }

  readonly #recount = (): void => {
    this.#pending = this.#store.countPending();
    this.announce();
  };

  readonly #countStored = ({ stored, unusable }: PutResult): void => {
    this.#pending += stored.length - unusable;
  };

  #countEnded(effects: Effects | undefined): void {
    this.#pending -= 1;
    if (effects !== undefined) this.announceTimers(effects);
  }

  #nextTimerIn(): number | undefined {
    const at = readStore(() => this.#timers.nextDueAt());
    return at === undefined ? undefined : Math.max(0, at - this.#clock.now());
  }

  #measureDisk(): DiskMeasures | undefined {
    const { disk } = this.#file;
    if (this.#disk === undefined || disk === undefined) return undefined;
    const { free, minFree } = this.#disk;
    return { ...sizesOf(disk.path), free, minFree };
  }
}

function ifReadable(check: () => void): void {
  try {
    check();
  } catch {
    // The store is unavailable. Writes report the failure, and the next check follows soon.
  }
}

function commitDisk({ wal, watch }: DiskFile): CommitDisk {
  return { check: () => watch.check(), sync: () => wal.sync() };
}

function makeGuard(path: string, options: SqliteInboxOptions, clock: Clock): DiskGuard {
  const { minFreeBytes = MIN_FREE_BYTES, freeBytes, bot } = options;
  const folder = dirname(path);
  return new DiskGuard({ folder, minFreeBytes, clock, bot, ...(freeBytes && { freeBytes }) });
}
