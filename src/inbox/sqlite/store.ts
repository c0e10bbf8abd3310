import { statSync } from "node:fs";
import type { Database, Statement } from "better-sqlite3";
import type { StorageReport } from "../admin.ts";
import { PLATFORM_TYPES } from "../platform-events.ts";
import type { Dialect, Query, Script, SqlStore, SqlWriteOptions } from "../sql/store.ts";
import { packValue, unpackRow } from "../stored-text.ts";
import type { WriteOptions } from "./group-commit.ts";
import { readStore } from "./store-error.ts";
import { packList } from "./text-statement.ts";

const isAnyOf = (column: string, list: string) =>
  `${column} IN (SELECT value FROM json_each(${list}))`;

/** Number of the newest events among which the last delivery is searched. */
const MAX_SEARCHED_EVENTS = 1_000;

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
  waitEnds: "lane.ready_at",
  // A run's event is the first of its lane, unless earlier ones have arrived since.
  runningId: `(SELECT id FROM (
    SELECT running.id, running.leased_until FROM event AS running
    WHERE running.lane = event.lane AND running.state = 'pending' ORDER BY running.ord, running.seq LIMIT 50
  ) WHERE leased_until > {now} LIMIT 1)`,
  begunAt: "event.begun_at",
  instance: "NULL",
  hurryLanes: `UPDATE lane SET ready_at = 0 WHERE ${isAnyOf("key", "$1")} AND ready_at > {now}`,
  leaseEnds: ", max(leased_until) AS leased_until",
  isLaneLeased: "counted.leased_until > {now}",
  enterLanes: `
    INSERT INTO lane (key, ready_at) SELECT DISTINCT lane, 0 FROM event WHERE ${isAnyOf("id", "$1")} ORDER BY lane
    ON CONFLICT (key) DO UPDATE
      SET ready_at = CASE WHEN ${isAnyOf("lane.key", "$2")} THEN 0 ELSE coalesce(lane.ready_at, 0) END`,
  leaveLanes: `
    UPDATE lane SET done_at = coalesce(done_at, {now}),
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
  // Finds the last delivery of a killed process. Reads few rows, because the webhook may have been silent for long.
  deliveries: `SELECT received_at AS at
    FROM (SELECT source, type, received_at FROM event ORDER BY seq DESC LIMIT ${MAX_SEARCHED_EVENTS})
    WHERE source = 'webhook' AND type IN (${PLATFORM_TYPES})`,
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
  readonly #statement: Statement<unknown[], object>;
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
    if (this.#statement.reader) {
      return this.#statement.all(...this.#places(values, now)).map((row) => unpackRow(row));
    }
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

function pack(value: unknown): unknown {
  return Array.isArray(value) ? packList(value) : packValue(value);
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
