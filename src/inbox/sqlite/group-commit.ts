import type { Database } from "better-sqlite3";
import { codeOf, ServiceBotError } from "../../errors.ts";
import { channels, type StoreFailure } from "../../observe/channels.ts";
import type { SqlWriteOptions } from "../sql/store.ts";
import { asStoreError } from "./store-error.ts";

/** Order of writes in a transaction. New events find the lanes of ended runs idle. */
export const PHASES = { endings: 0, arrivals: 1 } as const;

export type Phase = (typeof PHASES)[keyof typeof PHASES];

export interface WriteOptions extends SqlWriteOptions {
  /** Default: endings. */
  readonly phase?: Phase;
}

class Write<T, R> {
  readonly phase: Phase;
  readonly mayBeLost: boolean;
  readonly promise: Promise<R>;
  readonly #work: () => T;
  readonly #committed: (value: T) => R;
  #value: T | undefined;
  #result: R | undefined;
  #error: unknown;
  #resolve: (value: R) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(
    work: () => T,
    committed: (value: T) => R,
    { phase = PHASES.endings, mayBeLost = false }: WriteOptions,
  ) {
    this.#work = work;
    this.#committed = committed;
    this.phase = phase;
    this.mayBeLost = mayBeLost;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  run(): void {
    this.#value = this.#work();
  }

  /** Called once the transaction is committed. */
  commit(): void {
    try {
      // The work has run if the transaction was committed.
      this.#result = this.#committed(this.#value as T);
    } catch (thrown) {
      this.#error = thrown;
    }
  }

  /** Settles the promise. Without an error, the write must be committed. */
  settle(error: unknown = this.#error): void {
    if (error === undefined) this.#resolve(this.#result as R);
    else this.#reject(error);
  }
}

type AnyWrite = Write<unknown, unknown>;

/** In-memory data that transactions change. */
export interface TransactionMemory {
  begin(): void;
  /** Called after the writes. */
  serve(): void;
  undone(): void;
}

/** Disk on which the commits are stored. */
export interface CommitDisk {
  /** Throws unless what is written now can be found by the next process. */
  check(): void;
  /** Makes every commit so far durable. */
  sync(): Promise<void>;
}

export interface GroupCommitOptions {
  /** In-memory data that transactions change. */
  readonly memory?: TransactionMemory;
  /** Absent if commits are durable by themselves. */
  readonly disk?: CommitDisk | undefined;
  /** Called when a sync fails. Its writes are committed, although their callers see an error. */
  readonly onSyncFailed?: () => void;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

/** Maximum time for which a transaction waits for more writes, in ms. */
const MAX_GATHER_MS = 2;

/** A transaction's writes, and when it began. */
interface Group {
  readonly writes: readonly AnyWrite[];
  readonly startedAt: number;
}

/**
 * Group commit. Writes in one event loop turn share a transaction, and transactions share a sync. A hundred deliveries
 * take little longer than one delivery, and no delivery is acknowledged before its commit is on disk.
 */
export class GroupCommit {
  readonly #db: Database;
  readonly #options: GroupCommitOptions;
  readonly #waiting: AnyWrite[][] = Object.values(PHASES).map(() => []);
  /** Number of waiting writes that may not be lost. */
  #toSync = 0;
  /** Groups that are committed, and wait for a sync. */
  #unsynced: Group[] = [];
  #isScheduled = false;
  /** Ends once no committed write waits. */
  #syncing: Promise<void> | undefined;
  #isClosed = false;
  #hasUnsynced = false;

  constructor(db: Database, options: GroupCommitOptions = {}) {
    this.#db = db;
    this.#options = options;
  }

  /** True if a power loss could undo a commit, and no write waits for a sync. */
  get hasUnsynced(): boolean {
    return this.#hasUnsynced;
  }

  /**
   * Runs `work` inside the next transaction. Resolves with its value once the transaction is on disk, or committed if
   * it may be lost. `work` may only read and write the database and data that {@link TransactionMemory} rolls back,
   * because it may run twice.
   */
  write<T>(work: () => T, options?: WriteOptions): Promise<T> {
    return this.writeThen(work, (value) => value, options);
  }

  /** Like {@link write}, but resolves with the result of `committed`, which runs once after the commit. */
  writeThen<T, R>(
    work: () => T,
    committed: (value: T) => R,
    options: WriteOptions = {},
  ): Promise<R> {
    if (this.#isClosed) {
      return Promise.reject(new ServiceBotError("STORE_UNAVAILABLE", "The inbox is closed."));
    }
    const write = new Write(work, committed, options);
    this.#waiting[write.phase]?.push(write as AnyWrite);
    if (!write.mayBeLost) this.#toSync += 1;
    // During a sync, what must be synced can wait for its end, because it needs the next sync.
    if (write.mayBeLost || this.#syncing === undefined) this.#schedule();
    return write.promise;
  }

  /** Commits the waiting writes and refuses later ones. Resolves once no sync is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#flush();
    await this.#syncing;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#gather(performance.now());
  }

  /** Commits once an event loop turn adds no writes to sync, because a sync costs as much as several writes. */
  #gather(since: number): void {
    const before = this.#toSync;
    setImmediate(() => {
      if (this.#toSync > before && performance.now() - since < MAX_GATHER_MS) this.#gather(since);
      else this.#flush();
    });
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#toSync = 0;
    const writes = this.#waiting.flatMap((phase) => phase.splice(0));
    if (writes.length === 0) return;
    const error = this.#commit(writes);
    if (error === undefined) return;
    if (writes.length === 1 || isOfTheStore(error)) {
      this.#fail(writes, error);
      return;
    }
    // A failing write must not fail the others, so each gets its own transaction.
    for (const write of writes) {
      const own = this.#commit([write]);
      if (own !== undefined) this.#fail([write], own);
    }
  }

  /** Returns the error that rolled back the transaction. `undefined` once it is committed. */
  #commit(writes: readonly AnyWrite[]): unknown {
    const startedAt = performance.now();
    try {
      this.#options.disk?.check();
      this.#db.exec("BEGIN IMMEDIATE");
      this.#options.memory?.begin();
      this.#run(writes);
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#rollback();
      this.#publish(startedAt, false);
      return error ?? new Error("unknown error");
    }
    // From here on, nothing may make a write look failed.
    for (const write of writes) write.commit();
    this.#settle({ writes, startedAt });
    return undefined;
  }

  #run(group: readonly AnyWrite[]): void {
    for (const write of group) write.run();
    this.#options.memory?.serve();
  }

  /** Settles a committed group's writes. Those that may not be lost wait for a sync. */
  #settle({ writes, startedAt }: Group): void {
    const hasDisk = this.#options.disk !== undefined;
    this.#hasUnsynced = hasDisk;
    const unsynced = writes.filter(({ mayBeLost }) => hasDisk && !mayBeLost);
    for (const write of writes) if (write.mayBeLost || !hasDisk) write.settle();
    if (unsynced.length === 0) {
      this.#publish(startedAt, true);
      return;
    }
    this.#unsynced.push({ writes: unsynced, startedAt });
    this.#syncing ??= this.#sync();
  }

  /** Syncs until no committed write waits. Commits during a sync share the next one. */
  async #sync(): Promise<void> {
    while (this.#unsynced.length > 0) {
      const groups = this.#unsynced;
      this.#unsynced = [];
      this.#hasUnsynced = false;
      const error = await this.#makeDurable().catch((error: unknown) => error);
      for (const { writes, startedAt } of groups) {
        this.#publish(startedAt, error === undefined);
        if (error === undefined) for (const write of writes) write.settle();
        else this.#fail(writes, error);
      }
      if (error === undefined) continue;
      this.#hasUnsynced = true;
      this.#options.onSyncFailed?.();
    }
    this.#syncing = undefined;
    if (this.#toSync > 0) this.#schedule();
  }

  async #makeDurable(): Promise<void> {
    await this.#options.disk?.sync();
    this.#options.disk?.check();
  }

  #fail(writes: readonly AnyWrite[], error: unknown): void {
    const { "store-failure": failures } = channels;
    if (!(error instanceof ServiceBotError) && failures.hasSubscribers) {
      failures.publish({ bot: this.#options.bot, reason: failureOf(error) });
    }
    const shown = asStoreError(error);
    for (const write of writes) write.settle(shown);
  }

  #rollback(): void {
    // After SQLITE_FULL and some I/O errors, SQLite has already rolled back.
    if (this.#db.open && this.#db.inTransaction) this.#db.exec("ROLLBACK");
    this.#options.memory?.undone();
  }

  #publish(startedAt: number, isCommitted: boolean): void {
    const { transaction } = channels;
    if (!transaction.hasSubscribers) return;
    const ms = performance.now() - startedAt;
    transaction.publish({ bot: this.#options.bot, ms, isCommitted });
  }
}

function failureOf(error: unknown): StoreFailure {
  const code = codeOf(error);
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code)) return "disk_full";
  return code.startsWith("SQLITE_BUSY") ? "locked" : "broken";
}

/**
 * Returns whether the file itself is lost, locked, full or broken. Every write would then fail on its own as well, and
 * would block the process until the lock times out.
 */
function isOfTheStore(error: unknown): boolean {
  return /^STORE_UNAVAILABLE$|^SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB)/.test(
    codeOf(error),
  );
}
