import type { Database } from "better-sqlite3";
import { codeOf, messageOf, ServiceBotError } from "../../errors.ts";
import { channels, type StoreFailure } from "../../observe/channels.ts";

interface Write {
  run(): void;
  keep(): void;
  refuse(error: unknown): void;
}

/**
 * Group commit: what is asked for in one turn of the event loop shares one transaction, and so one
 * fsync. A hundred deliveries cost little more than one, and none is acknowledged before the commit.
 */
export class GroupCommit {
  readonly #db: Database;
  readonly #bot: object | undefined;
  #waiting: Write[] = [];
  #scheduled = false;
  #closed = false;

  constructor(db: Database, bot?: object) {
    this.#db = db;
    this.#bot = bot;
  }

  /**
   * Runs `work` inside the next transaction. Resolves with its value once that is committed.
   * `work` must do nothing but read and write the database: it may be run a second time.
   */
  write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) {
        reject(new ServiceBotError("STORE_UNAVAILABLE", "The inbox is closed."));
        return;
      }
      let value: T;
      this.#waiting.push({
        run: () => {
          value = work();
        },
        keep: () => resolve(value),
        refuse: reject,
      });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    });
  }

  /** Commits what is waiting and takes nothing more. */
  close(): void {
    this.#closed = true;
    this.#flush();
  }

  #flush(): void {
    this.#scheduled = false;
    const group = this.#waiting;
    this.#waiting = [];
    if (group.length === 0) return;
    const error = this.#commit(group);
    if (error === undefined || group.length === 1 || isOfTheStore(error)) {
      this.#settle(group, error);
      return;
    }
    // The fault of one write must not fail the others.
    for (const write of group) this.#settle([write], this.#commit([write]));
  }

  #settle(group: readonly Write[], error: unknown): void {
    const { "store-failure": failures } = channels;
    if (error !== undefined && !(error instanceof ServiceBotError) && failures.hasSubscribers) {
      failures.publish({ bot: this.#bot, reason: failureOf(error) });
    }
    for (const write of group) {
      if (error === undefined) write.keep();
      else write.refuse(asStoreError(error));
    }
  }

  /** Returns what undid the transaction, or undefined once it is on disk. */
  #commit(group: readonly Write[]): unknown {
    const started = performance.now();
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      for (const write of group) write.run();
      this.#db.exec("COMMIT");
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

  #rollback(): void {
    // After SQLITE_FULL and some I/O errors SQLite has rolled back by itself.
    if (this.#db.open && this.#db.inTransaction) this.#db.exec("ROLLBACK");
  }
}

function failureOf(error: unknown): StoreFailure {
  const code = codeOf(error);
  if (code.startsWith("SQLITE_FULL")) return "disk_full";
  return code.startsWith("SQLITE_BUSY") ? "locked" : "broken";
}

/**
 * A file that is locked, full or broken is so for each write alone as well, and each would wait for the
 * lock again, with the whole process.
 */
function isOfTheStore(error: unknown): boolean {
  return /^SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB)/.test(codeOf(error));
}

/** Everything that SQLite throws becomes STORE_UNAVAILABLE; our own errors stay what they are. */
export function asStoreError(error: unknown): ServiceBotError {
  if (error instanceof ServiceBotError) return error;
  return new ServiceBotError(
    "STORE_UNAVAILABLE",
    `The inbox cannot be written: ${messageOf(error)}`,
    {
      cause: error,
    },
  );
}

/** Reads from the store. @throws {ServiceBotError} as {@link asStoreError} has it */
export function readStore<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error);
  }
}
