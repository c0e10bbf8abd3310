import type { Database } from "better-sqlite3";
import { codeOf, ServiceBotError } from "../../errors.ts";
import { channels, type StoreFailure } from "../../observe/channels.ts";
import type { SqlWriteOptions } from "../sql/store.ts";
import { asStoreError } from "./store-error.ts";

/**
 * Order of writes in a transaction. Ended runs free their lanes and slots. Waiting lanes take the free slots, and new
 * events take the rest.
 */
export const PHASES = { endings: 0, claims: 1, arrivals: 2 } as const;

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

  /** Settles the promise. `error` is undefined once the write is committed. */
  settle(error: ServiceBotError | undefined): void {
    if (error !== undefined) {
      this.#reject(error);
      return;
    }
    try {
      // The work has run if the transaction was committed.
      this.#resolve(this.#committed(this.#value as T));
    } catch (thrown) {
      this.#reject(thrown);
    }
  }
}

type AnyWrite = Write<unknown, unknown>;

/** In-memory data that transactions change. */
export interface TransactionMemory {
  /** Called after the claims, and before new events arrive. */
  serve?(): void;
  committed(): void;
  undone(): void;
}

/**
 * Group commit. Writes in one event loop turn share a transaction, and its fsync if one of them needs it. A hundred
 * deliveries take little longer than one delivery, and no delivery is acknowledged before the commit.
 */
export class GroupCommit {
  readonly #db: Database;
  readonly #memory: TransactionMemory | undefined;
  readonly #bot: object | undefined;
  readonly #waiting: AnyWrite[][] = Object.values(PHASES).map(() => []);
  #scheduled = false;
  #closed = false;
  /** True while SQLite syncs the file in each commit. */
  #syncs = true;
  #hasUnsynced = false;

  constructor(db: Database, memory?: TransactionMemory, bot?: object) {
    this.#db = db;
    this.#memory = memory;
    this.#bot = bot;
  }

  /** True if a power loss could undo a commit. */
  get hasUnsynced(): boolean {
    return this.#hasUnsynced;
  }

  /** Must be called after a synced commit that has changed the file. */
  noteSynced(): void {
    this.#hasUnsynced = false;
  }

  /**
   * Runs `work` inside the next transaction. Resolves with its value once the transaction is committed. `work` may only
   * read and write the database and data that {@link TransactionMemory} rolls back, because it may run twice.
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
    if (this.#closed) {
      return Promise.reject(new ServiceBotError("STORE_UNAVAILABLE", "The inbox is closed."));
    }
    const write = new Write(work, committed, options);
    this.#waiting[write.phase]?.push(write as AnyWrite);
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    }
    return write.promise;
  }

  /** Commits the waiting writes and refuses later ones. */
  close(): void {
    this.#closed = true;
    this.#flush();
  }

  #flush(): void {
    this.#scheduled = false;
    const group = this.#waiting.flatMap((writes) => writes.splice(0));
    if (group.length === 0) return;
    const error = this.#commit(group);
    if (error === undefined || group.length === 1 || isOfTheStore(error)) {
      this.#settle(group, error);
      return;
    }
    // A failing write must not fail the others, so each gets its own transaction.
    for (const write of group) this.#settle([write], this.#commit([write]));
  }

  #settle(group: readonly AnyWrite[], error: unknown): void {
    const { "store-failure": failures } = channels;
    if (error !== undefined && !(error instanceof ServiceBotError) && failures.hasSubscribers) {
      failures.publish({ bot: this.#bot, reason: failureOf(error) });
    }
    const shown = error === undefined ? undefined : asStoreError(error);
    for (const write of group) write.settle(shown);
  }

  /** Returns the error that rolled back the transaction. `undefined` once it is committed. */
  #commit(group: readonly AnyWrite[]): unknown {
    const started = performance.now();
    try {
      this.#setSync(group.some(({ mayBeLost }) => !mayBeLost));
      this.#db.exec("BEGIN IMMEDIATE");
      this.#run(group);
      this.#db.exec("COMMIT");
      this.#memory?.committed();
      return undefined;
    } catch (error) {
      this.#rollback();
      return error ?? new Error("unknown error");
    } finally {
      const { transaction } = channels;
      if (transaction.hasSubscribers)
        transaction.publish({ bot: this.#bot, ms: performance.now() - started });
    }
  }

  #run(group: readonly AnyWrite[]): void {
    const isArrival = ({ phase }: AnyWrite) => phase === PHASES.arrivals;
    const firstArrival = group.findIndex(isArrival);
    const before = firstArrival < 0 ? group.length : firstArrival;
    for (const write of group.slice(0, before)) write.run();
    this.#memory?.serve?.();
    for (const write of group.slice(before)) write.run();
  }

  /** A sync also makes earlier commits durable, but a commit that changes nothing does not sync. */
  #setSync(syncs: boolean): void {
    if (!syncs) this.#hasUnsynced = true;
    if (syncs === this.#syncs) return;
    this.#db.pragma(`synchronous = ${syncs ? "FULL" : "NORMAL"}`);
    this.#syncs = syncs;
  }

  #rollback(): void {
    // After SQLITE_FULL and some I/O errors, SQLite has already rolled back.
    if (this.#db.open && this.#db.inTransaction) this.#db.exec("ROLLBACK");
    this.#memory?.undone();
  }
}

function failureOf(error: unknown): StoreFailure {
  const code = codeOf(error);
  if (code.startsWith("SQLITE_FULL")) return "disk_full";
  return code.startsWith("SQLITE_BUSY") ? "locked" : "broken";
}

/**
 * Returns whether the file itself is locked, full or broken. Every write would then fail on its own as well, and would
 * block the process until the lock times out.
 */
function isOfTheStore(error: unknown): boolean {
  return /^SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB)/.test(codeOf(error));
}
