import { statSync } from "node:fs";
import type { Database, Statement } from "better-sqlite3";
import type { Clock } from "../../core/clock.ts";
import { codeOf, messageOf, ServiceBotError } from "../../errors.ts";
import { channels, type StoreFailure } from "../../observe/channels.ts";
import type { StorageReport } from "../admin.ts";
import type { Dialect, Query, Script, SqlStore } from "../sql/store.ts";

/** SQLite dialect, with the indexes of the SQLite schema. */
export const dialect: Dialect = {
  locksRows: false,
  lockText: undefined,
  hasTable: "SELECT 1 FROM sqlite_schema WHERE name = $1",
  isAnyOf: (column, list) => `${column} IN (SELECT value FROM json_each(${list}))`,
  position: (part, text) => `instr(${text}, ${part})`,
  indexes: {
    pending: ["event.state = 'pending'"],
    done: ["event.state <> 'pending' AND event.state = 'done'"],
    dead: ["event.state = 'dead'"],
    discarded: ["event.state = 'discarded'"],
    ended: ["event.state <> 'pending'"],
  },
  // Reads only the index, because reading 100,000 rows would take 200 ms. Rows are in order of arrival.
  pending: `SELECT (SELECT count(*) FROM event WHERE state = 'pending') AS n,
    (SELECT received_at FROM event WHERE seq =
      (SELECT min(seq) FROM event INDEXED BY event_pending WHERE state = 'pending')) AS at`,
};

const BYTES = "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size";

const PENDING = "SELECT count(*) AS n FROM event WHERE state = 'pending'";

export interface SqliteStoreOptions {
  readonly db: Database;
  /** Returns the time in ms since 1970. */
  readonly now: () => number;
  /** Runs work in a transaction, and resolves once the transaction is committed. */
  readonly write: <T>(work: () => T) => Promise<T>;
  /** Like `write`, but in a transaction that first writes the lane rows of all committed events. */
  readonly writeWithLanes: <T>(work: () => T) => Promise<T>;
}

/** Runs statements on an inbox file. */
export class SqliteStore implements SqlStore {
  readonly dialect: Dialect = dialect;
  readonly #options: SqliteStoreOptions;
  readonly #statements = new Map<string, Prepared>();

  constructor(options: SqliteStoreOptions) {
    this.#options = options;
  }

  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.read(text, values);
  }

  /** Runs one statement synchronously. */
  read<Row>(text: string, values: readonly unknown[] = []): Row[] {
    return readStore(() => this.#all(text, values) as Row[]);
  }

  write(text: string, values: readonly unknown[]): Promise<number> {
    const { now, write } = this.#options;
    return write(() => this.#prepare(text).run(values, now()));
  }

  run<T>(script: () => Script<T>): Promise<T> {
    return this.#options.writeWithLanes(() =>
      drive(script(), ({ text, values }) => this.#all(text, values)),
    );
  }

  countPending(): number {
    return this.read<{ readonly n: number }>(PENDING)[0]?.n ?? 0;
  }

  async storage(): Promise<StorageReport> {
    const { db } = this.#options;
    const [size] = this.read<{ readonly bytes: number }>(BYTES);
    const wal = db.memory ? undefined : statSync(`${db.name}-wal`, { throwIfNoEntry: false });
    return { bytes: size?.bytes ?? 0, walBytes: db.memory ? undefined : (wal?.size ?? 0) };
  }

  #all(text: string, values: readonly unknown[]): unknown[] {
    return this.#prepare(text).all(values, this.#options.now());
  }

  #prepare(text: string): Prepared {
    let prepared = this.#statements.get(text);
    if (prepared === undefined) {
      prepared = new Prepared(this.#options.db, text);
      this.#statements.set(text, prepared);
    }
    return prepared;
  }
}

/** Runs a script synchronously, on a connection without other users. */
export function execute<T>(db: Database, script: Script<T>): T {
  return drive(script, ({ text, values }) => new Prepared(db, text).all(values, Date.now()));
}

function drive<T>(script: Script<T>, run: (query: Query) => unknown[]): T {
  let step = script.next([]);
  while (step.done !== true) step = script.next(run(step.value));
  return step.value;
}

/**
 * A prepared statement. Values are bound by position, because binding by name would take as long as writing the row.
 */
class Prepared {
  readonly #statement: Statement<unknown[], unknown>;
  /** The index of the value at each position. 0 is the time. */
  readonly #order: number[] = [];

  constructor(db: Database, text: string) {
    const sql = text
      .replaceAll("{schema}.", "")
      .replace(/\{now\}|\$(\d+)/g, (_, number?: string) => {
        this.#order.push(Number(number ?? 0));
        return "?";
      });
    this.#statement = db.prepare(sql);
  }

  /** Returns a query's rows. Empty for other statements. */
  all(values: readonly unknown[], now: number): unknown[] {
    if (this.#statement.reader) return this.#statement.all(...this.#places(values, now));
    this.run(values, now);
    return [];
  }

  /** Returns the number of written rows. */
  run(values: readonly unknown[], now: number): number {
    return this.#statement.run(...this.#places(values, now)).changes;
  }

  #places(values: readonly unknown[], now: number): unknown[] {
    return this.#order.map((number) => (number === 0 ? now : pack(values[number - 1])));
  }
}

/** Encodes a list as JSON. Lone surrogates are replaced, because stored texts contain none. */
function pack(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return JSON.stringify(value.map((one) => (typeof one === "string" ? one.toWellFormed() : one)));
}

interface Write {
  /** Runs after the transaction's other writes, and sees their changes. */
  readonly isLast: boolean;
  run(): void;
  keep(): void;
  refuse(error: unknown): void;
}

/** In-memory data that transactions change. */
export interface TransactionMemory {
  committed(): void;
  undone(): void;
}

/**
 * Group commit. Writes in one event loop turn share a transaction and its fsync. A hundred deliveries take little
 * longer than one delivery, and no delivery is acknowledged before the commit.
 */
export class GroupCommit {
  readonly #db: Database;
  readonly #memory: TransactionMemory | undefined;
  readonly #bot: object | undefined;
  #waiting: Write[] = [];
  #scheduled = false;
  #closed = false;

  constructor(db: Database, memory?: TransactionMemory, bot?: object) {
    this.#db = db;
    this.#memory = memory;
    this.#bot = bot;
  }

  /**
   * Runs `work` inside the next transaction. Resolves with its value once the transaction is committed. `work` may only
   * read and write the database and data that {@link TransactionMemory} rolls back, because it may run twice.
   *
   * @param isLast true runs `work` after the transaction's other writes
   */
  write<T>(work: () => T, isLast = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) {
        reject(new ServiceBotError("STORE_UNAVAILABLE", "The inbox is closed."));
        return;
      }
      let value: T;
      this.#waiting.push({
        isLast,
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

  /** Commits the waiting writes and refuses later ones. */
  close(): void {
    this.#closed = true;
    this.#flush();
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#waiting.length === 0) return;
    const group = this.#waiting.filter(({ isLast }) => !isLast);
    group.push(...this.#waiting.filter(({ isLast }) => isLast));
    this.#waiting = [];
    const error = this.#commit(group);
    if (error === undefined || group.length === 1 || isOfTheStore(error)) {
      this.#settle(group, error);
      return;
    }
    // A failing write must not fail the others, so each gets its own transaction.
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

  /** Returns the error that rolled back the transaction. `undefined` once it is on disk. */
  #commit(group: readonly Write[]): unknown {
    const started = performance.now();
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      for (const write of group) write.run();
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

/** Converts an SQLite error to STORE_UNAVAILABLE. The project's own errors are not changed. */
export function asStoreError(error: unknown): ServiceBotError {
  if (error instanceof ServiceBotError) return error;
  return new ServiceBotError(
    "STORE_UNAVAILABLE",
    `Cannot write to the inbox: ${messageOf(error)}`,
    {
      cause: error,
    },
  );
}

/** Reads from the store. @throws {ServiceBotError} the error of {@link asStoreError} */
export function readStore<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error);
  }
}

/** Interval at which to check for other connections' commits, in ms. */
const WATCH_INTERVAL_MS = 1_000;

/**
 * Calls `changed` after another connection, for example from `service-bot inbox`, has committed to the file. A check
 * takes a few microseconds and no I/O. Returns a function that stops the checks.
 */
export function watchOthers(db: Database, clock: Clock, changed: () => void): () => void {
  // No other connection can open an in-memory database.
  if (db.memory) return () => undefined;
  const version = db.prepare("PRAGMA data_version").pluck();
  let seen = version.get();
  let cancel: () => void;
  const arm = () => {
    cancel = clock.timer(WATCH_INTERVAL_MS, look, { background: true });
  };
  const look = () => {
    arm();
    try {
      const now = version.get();
      if (now === seen) return;
      changed();
      seen = now;
    } catch {
      // The store is unavailable. Writes report the failure, and the next check follows soon.
    }
  };
  arm();
  return () => cancel();
}
