import { randomUUID } from "node:crypto";
import { ServiceBotError } from "../../errors.ts";
import { columnsOf, type Row, type Table, tables } from "../copy.ts";
import { clearMark, MARK, type Mark, markError, readMark, setMark } from "../sql/marks.ts";
import { query, type Script } from "../sql/store.ts";
import type { Database } from "./database.ts";
import { dialect } from "./dialect.ts";
import { countProcesses, requireInbox } from "./maintenance.ts";
import {
  checkSchema,
  migrate,
  nameOfInbox,
  type OpenOptions,
  openDatabase,
  refuseTooNew,
  storedSchema,
} from "./open.ts";
import { ALIVE_MS } from "./shared.ts";

/** Time limit for a response, in ms. Batches of long events, and statistics for a large table, take a while. */
const TIMEOUT_MS = 120_000;

/** Continues the sequence of event numbers after the copied events. */
const CONTINUE_SEQ = `
SELECT setval(pg_get_serial_sequence('{schema}.event', 'seq'), max(seq)) FROM {schema}.event
HAVING max(seq) IS NOT NULL`;

const names = tables.map(({ name }) => `{schema}.${name}`);

/** Without statistics, the first claims would be planned as if the tables were empty. */
const ANALYZE = `ANALYZE ${names.join(", ")}`;

const IS_FILLED = `SELECT ${names.map((name) => `EXISTS (SELECT FROM ${name})`).join(" OR ")} AS filled`;

/** Constraint that an earlier version left on an inbox copied out of PostgreSQL. */
const FENCE = "inbox_was_copied";

function insertInto(table: Table): string {
  const columns = columnsOf(table);
  const arrays = table.columns.map(
    ({ type }, index) => `$${index + 1}::${type === "text" ? "text" : "bigint"}[]`,
  );
  return `
INSERT INTO {schema}.${table.name} (${columns}) OVERRIDING SYSTEM VALUE
SELECT ${columns} FROM unnest(${arrays.join(", ")}) AS input (${columns})`;
}

/**
 * Target of a copy to PostgreSQL. It has a mark until {@link finish}, so no bot starts on it. The lock on the source
 * file prevents a second run.
 */
export class CopyTarget {
  /** URL of the inbox, without user and password. */
  readonly place: string;
  readonly #database: Database;
  readonly #run: string = randomUUID();

  /** @throws {ServiceBotError} DRIVER_MISSING, INBOX_UNUSABLE */
  static async open(options: OpenOptions): Promise<CopyTarget> {
    const database = await openDatabase({ timeoutMs: TIMEOUT_MS, ...options });
    return new CopyTarget(database, nameOfInbox(options.url, options.schema));
  }

  private constructor(database: Database, place: string) {
    this.#database = database;
    this.place = place;
  }

  /** Returns the time in ms since 1970, on the database's clock. */
  async now(): Promise<number> {
    const [row] = await this.#database.rows<{ readonly now: number }>("SELECT {now} AS now");
    return row?.now ?? Date.now();
  }

  async isUnfinished(): Promise<boolean> {
    return (await this.#readMark())?.role === "target";
  }

  /**
   * Checks that a copy can start. Changes nothing.
   *
   * @param from the source's location. An unfinished copy of this source may be replaced.
   * @throws {ServiceBotError} INBOX_NOT_EMPTY, INBOX_IN_USE, INBOX_UNFINISHED, INBOX_MOVED, INBOX_TOO_OLD,
   *   INBOX_TOO_NEW
   */
  async check(from: string): Promise<void> {
    const stored = await this.#database.run(storedSchema);
    if (stored.version === 0) return;
    // An unfinished copy will be replaced, so only a newer schema is a problem.
    if (isCopyOf(from, await this.#readMark())) return refuseTooNew(stored);
    await checkSchema(this.#database);
    await this.#refuseServed();
    await this.#database.run(() => this.#requireRoom(from));
  }

  /**
   * Creates the schema, sets the mark and deletes the rows of an earlier attempt. Must be called after {@link check},
   * and repeats its checks.
   *
   * @throws {ServiceBotError} the errors of {@link check}
   */
  async begin(from: string): Promise<void> {
    await migrate(this.#database);
    // Check before setting the mark, because a running bot that sees the mark would stop.
    await this.#refuseServed();
    await this.#database.run(() => this.#take(from));
    // Check again. A bot that started in between is either visible now or has seen the mark.
    try {
      await this.#refuseServed();
    } catch (error) {
      await this.#database.run(clearMark);
      throw error;
    }
  }

  async write(table: Table, rows: readonly Row[]): Promise<void> {
    const columns = table.columns.map((_, index) => rows.map((row) => row[index]));
    await this.#database.write(insertInto(table), columns);
  }

  async count({ name }: Table): Promise<number> {
    const counted = `SELECT count(*) AS n FROM {schema}.${name}`;
    const [row] = await this.#database.rows<{ readonly n: number }>(counted);
    return row?.n ?? 0;
  }

  /**
   * Removes the mark.
   *
   * @throws {ServiceBotError} INBOX_UNFINISHED if another run has started and deleted the rows of this run
   */
  async finish(): Promise<void> {
    await this.#database.rows(CONTINUE_SEQ);
    await this.#database.rows(ANALYZE);
    await this.#database.run(() => this.#clearOwnMark());
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  #readMark(): Promise<Mark | undefined> {
    return this.#database.run(() => readMark(dialect));
  }

  *#take(from: string): Script<void> {
    yield* this.#requireRoom(from);
    yield* setMark({ role: "target", other: from, run: this.#run });
    // The bot may use another role, which must see the mark.
    yield* query(`GRANT SELECT ON {schema}.${MARK} TO PUBLIC`);
    yield* query(`TRUNCATE ${names.join(", ")}`);
  }

  *#clearOwnMark(): Script<void> {
    const mark = yield* readMark(dialect);
    if (mark?.run !== this.#run) {
      throw new ServiceBotError(
        "INBOX_UNFINISHED",
        `Another copy to ${this.place} has started, so this copy has stopped. Wait for the other copy. If it failed, ` +
          "run `npx service-bot inbox copy` again.",
      );
    }
    yield* clearMark();
  }

  *#requireRoom(from: string): Script<void> {
    const mark = yield* readMark(dialect);
    if (isCopyOf(from, mark)) return;
    if (mark !== undefined) throw markError(mark, this.place);
    const [found] = yield* query<{ readonly filled: boolean }>(IS_FILLED);
    if (found?.filled === false) return;
    throw new ServiceBotError(
      "INBOX_NOT_EMPTY",
      `${this.place} is not empty, and a copy would mix two inboxes. Set DATABASE_SCHEMA to another ` +
        `name, or delete the old data with DROP SCHEMA "${this.#database.schema}" CASCADE.`,
    );
  }

  async #refuseServed(): Promise<void> {
    const n = await countProcesses(this.#database);
    if (n === 0) return;
    throw new ServiceBotError(
      "INBOX_IN_USE",
      `${n === 1 ? "A bot uses" : `${n} bot instances use`} ${this.place}. Stop every instance first. An ` +
        `instance that was killed counts as running for ${ALIVE_MS / 1_000} s.`,
    );
  }
}

function isCopyOf(from: string, mark: Mark | undefined): boolean {
  return mark?.role === "target" && mark.other === from;
}

/**
 * Removes the mark that an earlier version left on a PostgreSQL inbox after copying it. Resolves to false if there was
 * no mark.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED,
 *   INBOX_UNUSABLE
 */
export async function reopenDatabase(options: OpenOptions): Promise<boolean> {
  const database = await openDatabase({ timeoutMs: TIMEOUT_MS, ...options });
  await requireInbox(database, options.url);
  try {
    return await database.run(function* () {
      if ((yield* readMark(dialect)) === undefined) return false;
      yield* clearMark();
      for (const table of ["event", "lane"]) {
        yield* query(`ALTER TABLE {schema}.${table} DROP CONSTRAINT IF EXISTS ${FENCE}`);
      }
      return true;
    });
  } finally {
    await database.close();
  }
}
