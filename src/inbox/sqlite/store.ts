import { statSync } from "node:fs";
import type { Database, Statement } from "better-sqlite3";
import { codeOf, messageOf, ServiceBotError } from "../../errors.ts";
import { channels, type StoreFailure } from "../../observe/channels.ts";
import type { StorageReport } from "../admin.ts";
import type { Dialect, Query, Script, SqlStore, SqlWriteOptions } from "../sql/store.ts";

const isAnyOf = (column: string, list: string) =>
  `${column} IN (SELECT value FROM json_each(${list}))`;

/**
 * SQLite dialect, with the indexes of the SQLite schema. A time in the row of a leased lane is harmless, because the
 * next claim corrects it. A lane without a time would be stuck.
 */
export const dialect: Dialect = {
  locksRows: false,
  lockText: undefined,
  held: "FROM event WHERE id = $4 AND fence = $3 AND leased_until IS NOT NULL AND state = 'pending'",
  isClaimed: "event.leased_until IS NOT NULL",
  isLeased: "event.leased_until > {now}",
  leaseEnds: ", max(leased_until) AS leased_until",
  isLaneLeased: "counted.leased_until > {now}",
  enterLanes: `
    INSERT INTO lane (key, ready_at) SELECT DISTINCT lane, 0 FROM event WHERE ${isAnyOf("id", "$1")} ORDER BY lane
    ON CONFLICT (key) DO UPDATE
      SET ready_at = CASE WHEN ${isAnyOf("lane.key", "$2")} THEN 0 ELSE coalesce(lane.ready_at, 0) END`,
  leaveLanes: `
    UPDATE lane SET done_at = {now},
      ready_at = CASE WHEN NOT EXISTS (SELECT 1 FROM event WHERE event.lane = lane.key AND state = 'pending') THEN NULL
                      WHEN ${isAnyOf("lane.key", "$3")} THEN 0
                      ELSE ready_at END
    WHERE key IN (SELECT lane FROM event WHERE ${isAnyOf("id", "$1")})`,
  hasTable: "SELECT 1 FROM sqlite_schema WHERE name = $1",
  isAnyOf,
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
  readonly write: <T>(work: () => T, options?: WriteOptions) => Promise<T>;
  /** Like `write`, but in a transaction that first writes the rows of all lanes. */
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

  write(text: string, values: readonly unknown[], options?: SqlWriteOptions): Promise<number> {
    const { now, write } = this.#options;
    return write(() => this.#prepare(text).run(values, now()), options);
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
 * Group commit. Writes in one event loop turn share a transaction and its fsync. A hundred deliveries take little
 * longer than one delivery, and no delivery is acknowledged before the commit.
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

  /** Returns true if a power loss could undo a commit since the last call. */
  takeUnsynced(): boolean {
    const hadUnsynced = this.#hasUnsynced;
    this.#hasUnsynced = false;
    return hadUnsynced;
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

  /** Returns the error that rolled back the transaction. `undefined` once it is on disk. */
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

/** Detects commits of other connections, for example from `service-bot inbox`. */
export class OtherWriters {
  readonly #version: Statement<[], unknown>;
  #seen: unknown;

  constructor(db: Database) {
    this.#version = db.prepare<[], unknown>("PRAGMA data_version").pluck();
    this.#seen = this.#version.get();
  }

  /**
   * Calls `changed` if another connection has committed since the last call that returned. Takes a few microseconds and
   * no I/O.
   */
  look(changed: () => void): void {
    const now = this.#version.get();
    if (now === this.#seen) return;
    changed();
    this.#seen = now;
  }
}
