import { randomUUID } from "node:crypto";
import { dirname, resolve } from "node:path";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { Observer } from "../../core/observer.ts";
import type { InboxAdmin } from "../admin.ts";
import type {
  Advance,
  Claim,
  ClaimRooms,
  CursorMove,
  Inbox,
  InboxCapabilities,
  InboxStats,
  NewEvent,
  PutResult,
  ReconcileResult,
  Retention,
  Source,
  StepStart,
} from "../inbox.ts";
import { inboxFull, MAX_BACKLOG } from "../limits.ts";
import type { DiskMeasures, InboxMeasures } from "../measures.ts";
import { sqliteAdmin } from "./admin.ts";
import { Arrivals } from "./arrivals.ts";
import { type Batch, Batches, type StoredBatch } from "./batches.ts";
import { DiskGuard, MIN_FREE_BYTES, sizesOf } from "./disk.ts";
import { GroupCommit, readStore } from "./group-commit.ts";
import { History } from "./history.ts";
import { Lanes } from "./lanes.ts";
import { MEMORY, type OpenFile, openFile } from "./open.ts";
import { Reports } from "./reports.ts";
import { Sweeper } from "./retention.ts";
import { Steps } from "./steps.ts";
import { watch } from "./watch.ts";

/** So many lanes at most wait for a claim to be told of their events: more would hold it up for over 30 ms. */
const MOST_ARRIVALS = 5_000;

export interface SqliteInboxOptions {
  /** Path of the file, or `:memory:`. Its folder is made when it is missing. */
  readonly file: string;
  readonly clock?: Clock;
  /** How many events may be pending before `put` refuses more (INBOX_FULL). Default 100,000. */
  readonly maxBacklog?: number;
  /** `put` refuses more (STORE_UNAVAILABLE) when less than this is free, in bytes. Default 64 MiB. */
  readonly minFreeBytes?: number;
  /** How much is free on the disk of a folder, in bytes; by default what the file system says. */
  readonly freeBytes?: (folder: string) => number;
  readonly observer?: Observer | undefined;
}

/** The inbox in one SQLite file, for one process. */
export class SqliteInbox implements Inbox {
  readonly capabilities: InboxCapabilities;
  readonly admin: InboxAdmin;
  readonly shared = undefined;
  readonly #path: string;
  readonly #file: OpenFile;
  readonly #clock: Clock;
  readonly #maxBacklog: number;
  readonly #group: GroupCommit;
  readonly #batches: Batches;
  readonly #lanes: Lanes;
  readonly #steps: Steps;
  readonly #reports: Reports;
  readonly #sweeper: Sweeper;
  /** Absent for an inbox in memory. */
  readonly #disk: DiskGuard | undefined;
  readonly #unwatch: () => void;
  readonly #arrivals = new Arrivals();
  readonly #listeners = new Set<() => void>();
  /** Counted along, for counting the rows at every batch would cost more than storing it. */
  #pending: number;

  /** @throws {ServiceBotError} INBOX_IN_USE, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE */
  constructor(options: SqliteInboxOptions) {
    this.#path = options.file;
    this.#file = openFile(options.file);
    this.#clock = options.clock ?? systemClock;
    this.#maxBacklog = options.maxBacklog ?? MAX_BACKLOG;
    const { db } = this.#file;
    this.#group = new GroupCommit(db, options.observer);
    this.#batches = new Batches(db);
    this.#lanes = new Lanes(db, randomUUID(), new History(db));
    this.#steps = new Steps(db);
    this.#reports = new Reports(db);
    this.#sweeper = new Sweeper(db);
    this.#disk = makeGuard(options, this.#clock);
    this.capabilities = { guardsDisk: this.#disk !== undefined };
    db.transaction(() => this.#lanes.recover(this.#clock.now())).immediate();
    this.#pending = this.#reports.pending();
    this.#unwatch = watch(db, this.#clock, () => {
      this.#pending = this.#reports.pending();
      this.#announce();
    });
    this.admin = sqliteAdmin({
      db,
      now: () => this.#clock.now(),
      write: (work) => this.#writeAwake(work),
      onChange: (pending) => {
        this.#pending += pending;
        this.#announce();
      },
    });
  }

  async put(
    events: readonly NewEvent[],
    source: Source,
    cursors: readonly CursorMove[] = [],
    trace?: string,
  ): Promise<PutResult> {
    this.#refuseWhenFull(events);
    this.#disk?.refuseWhenLow();
    const { result, lanes, now } = await this.#write((now) =>
      this.#store({ events, source, cursors, trace }, now),
    );
    if (source === "webhook") this.#batches.kept(events);
    this.#arrivals.add(lanes, now);
    this.#pending += result.stored.length - result.unusable;
    if (result.stored.length > result.unusable) this.#announce();
    return result;
  }

  claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<readonly Claim[]> {
    return this.#writeAwake((now) => this.#lanes.claim(limit, leaseMs, now, rooms));
  }

  /** Nobody else claims here. */
  stopClaiming(): void {}

  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly Claim[]> {
    return this.#write((now) => this.#lanes.extend(claims, leaseMs, now));
  }

  complete(claim: Claim): Promise<boolean> {
    return this.#end(claim);
  }

  async advance(claim: Claim): Promise<Advance> {
    const advance = await this.#writeAwake((now) => this.#lanes.advance(claim, now));
    if (advance.held) this.#pending -= 1;
    return advance;
  }

  bury(claim: Claim, error: string): Promise<boolean> {
    return this.#end(claim, error);
  }

  retry(claim: Claim, delayMs: number, error: string): Promise<boolean> {
    return this.#write((now) => this.#lanes.retry(claim, now + delayMs, error, now));
  }

  release(claim: Claim, delayMs: number, error?: string): Promise<boolean> {
    return this.#write((now) => this.#lanes.release(claim, now + delayMs, error, now));
  }

  async nextReadyIn(): Promise<number | undefined> {
    const next = () => this.#lanes.nextReadyAt();
    const at = this.#arrivals.lanes > 0 ? await this.#writeAwake(next) : readStore(next);
    return at === undefined ? undefined : Math.max(0, at - this.#clock.now());
  }

  heal(): Promise<number> {
    return this.#writeAwake((now) => this.#lanes.heal(now));
  }

  sweep(keep: Retention): Promise<boolean> {
    return this.#write((now) => this.#sweeper.sweep(keep, now));
  }

  async beginStep(claim: Claim, name: string, request: string): Promise<StepStart | undefined> {
    let start: StepStart | undefined;
    const held = await this.#whileHeld(claim, (now) => {
      start = this.#steps.begin(claim, name, request, now);
    });
    return held ? start : undefined;
  }

  restartStep(claim: Claim, name: string, request: string): Promise<boolean> {
    return this.#whileHeld(claim, (now) => this.#steps.restart(claim, name, request, now));
  }

  finishStep(claim: Claim, name: string, result: string, ref?: string): Promise<boolean> {
    return this.#whileHeld(claim, () => this.#steps.finish(claim, name, result, ref));
  }

  adoptStep(claim: Claim, name: string, result: string, ref: string): Promise<ReconcileResult> {
    return this.#write(() => {
      if (!this.#lanes.holds(claim)) return "lost";
      return this.#steps.adopt(claim, name, result, ref) ? "adopted" : "taken";
    });
  }

  dropStep(claim: Claim, name: string): Promise<boolean> {
    return this.#whileHeld(claim, () => this.#steps.drop(claim, name));
  }

  async claimedRefs(refs: readonly string[]): Promise<ReadonlySet<string>> {
    return readStore(() => this.#steps.claimed(refs));
  }

  async requestsUnderWay(): Promise<readonly string[]> {
    return [];
  }

  async cursor(name: string): Promise<string | undefined> {
    return readStore(() => this.#reports.cursor(name));
  }

  async webhookTypes(): Promise<ReadonlySet<string>> {
    return readStore(() => this.#reports.webhookTypes());
  }

  async stats(): Promise<InboxStats> {
    return readStore(() => this.#reports.stats());
  }

  async measure(): Promise<InboxMeasures> {
    return readStore(() => ({ ...this.#reports.waiting(), disk: this.#measureDisk() }));
  }

  async ping(): Promise<void> {
    readStore(() => this.#reports.ping());
  }

  onReady(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (!this.#file.db.open) return;
    this.#unwatch();
    const written = this.#writeAwake(() => undefined);
    this.#group.close();
    // The next start finds them by itself where this failed.
    await written.catch(() => undefined);
    this.#file.close();
  }

  #measureDisk(): DiskMeasures | undefined {
    if (this.#disk === undefined) return undefined;
    const { free, minFree } = this.#disk;
    return { ...sizesOf(this.#path), free, minFree };
  }

  #write<T>(work: (now: number) => T): Promise<T> {
    return this.#group.write(() => work(this.#clock.now()));
  }

  /** Like `#write`, once the lanes know of what has come. */
  async #writeAwake<T>(work: (now: number) => T): Promise<T> {
    const arrivals = this.#arrivals.take();
    try {
      return await this.#write((now) => {
        this.#batches.wake(arrivals);
        return work(now);
      });
    } catch (error) {
      this.#arrivals.giveBack(arrivals);
      throw error;
    }
  }

  #store(given: Batch, now: number): StoredBatch {
    const batch = this.#batches.put(given, now);
    if (this.#arrivals.lanes < MOST_ARRIVALS) return batch;
    // While all places are taken nobody claims: what is put off would fill the memory, and then hold up a claim.
    const arrivals = new Arrivals();
    arrivals.add(batch.lanes, now);
    this.#batches.wake(arrivals.take());
    return { ...batch, lanes: [] };
  }

  #whileHeld(claim: Claim, work: (now: number) => void): Promise<boolean> {
    return this.#write((now) => {
      if (!this.#lanes.holds(claim)) return false;
      work(now);
      return true;
    });
  }

  async #end(claim: Claim, error?: string): Promise<boolean> {
    const ended = await this.#writeAwake((now) => this.#lanes.end(claim, now, error));
    if (ended) this.#pending -= 1;
    return ended;
  }

  /** What is known already adds nothing, and a refusal would only have it sent once more. */
  #refuseWhenFull(events: readonly NewEvent[]): void {
    if (this.#pending < this.#maxBacklog) return;
    if (readStore(() => this.#batches.allKnown(events))) return;
    throw inboxFull(this.#pending, this.#maxBacklog);
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}

function makeGuard(options: SqliteInboxOptions, clock: Clock): DiskGuard | undefined {
  const { file, minFreeBytes = MIN_FREE_BYTES, freeBytes, observer } = options;
  if (file === MEMORY) return undefined;
  const folder = dirname(resolve(file));
  return new DiskGuard({ folder, minFreeBytes, clock, observer, ...(freeBytes && { freeBytes }) });
}
