import { readFileSync } from "node:fs";
import { showDatabase } from "../../core/database-address.ts";
import { migrationsIn } from "../../core/database-files.ts";
import { ServiceBotError } from "../../errors.ts";
import { query, type Script } from "../sql/store.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { dialect } from "./dialect.ts";
import { loadDriver } from "./driver.ts";

/** The address of an inbox in PostgreSQL, without user and password. */
export function placeOf(url: string, schema: string): string {
  return `${showDatabase({ kind: "postgres", url })} (schema ${schema})`;
}

export type OpenOptions = Omit<DatabaseOptions, "driver">;

/** The oldest version that has what the statements need. */
const MIN_VERSION = 130_000;

const SETTINGS = `
SELECT current_setting('server_version_num')::integer AS version, pg_is_in_recovery() AS standby,
  current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS sync,
  current_setting('server_encoding') AS encoding`;

interface SettingsRow {
  readonly version: number;
  readonly standby: boolean;
  readonly fsync: string;
  readonly sync: string;
  readonly encoding: string;
}

/**
 * Connects, and makes sure that commits are durable there.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_UNUSABLE
 */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const database = new Database({ ...options, driver: await loadDriver() });
  await openWith(database, async () => {
    const [settings] = await database.rows<SettingsRow>(SETTINGS);
    const problem = settings && problemOf(settings);
    if (problem !== undefined) throw unusable(problem);
  });
  return database;
}

/**
 * Does a part of the opening of a database, and closes the database if that fails.
 *
 * @throws {ServiceBotError} INBOX_UNUSABLE, and what `work` throws
 */
export async function openWith<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await database.close();
    // A store that is away at the start cannot be used; later, it is away for a while.
    const away = error instanceof ServiceBotError && error.code === "STORE_UNAVAILABLE";
    throw away ? unusable(error.message) : error;
  }
}

function unusable(message: string): ServiceBotError {
  return new ServiceBotError("INBOX_UNUSABLE", message);
}

function problemOf({ version, standby, fsync, sync, encoding }: SettingsRow): string | undefined {
  if (version < MIN_VERSION) return "service-bot needs PostgreSQL 13 or newer. Update the server.";
  if (standby) return "DATABASE_URL names a standby, which refuses writes. Use the primary server.";
  if (encoding !== "UTF8") {
    return `The database has the encoding ${encoding}. Create a database with the encoding UTF8.`;
  }
  const loose = fsync === "off" ? "fsync" : sync === "off" ? "synchronous_commit" : undefined;
  if (loose === undefined) return undefined;
  return (
    `PostgreSQL has ${loose} = off, so a crash would lose acknowledged events. Turn it on for the server, ` +
    `or for the bot's role (ALTER ROLE … SET synchronous_commit = on).`
  );
}

const MIGRATIONS = new URL("./sql/", import.meta.url);

/** The lock under which the schema is made: a number of our own, and the schema. */
const LOCK = "SELECT pg_advisory_xact_lock(1936876642, hashtext($1))";

/** The version of the schema that this version of the code works with. */
function schemaVersion(): number {
  return migrationsIn(MIGRATIONS).length;
}

/** The schema of a database. */
export interface StoredSchema {
  /** 0 if there is none. */
  readonly version: number;
  /** The oldest version of the code's own schema that can work with it. */
  readonly readableFrom: number;
}

const NO_SCHEMA: StoredSchema = { version: 0, readableFrom: 0 };

export function* storedSchema(): Script<StoredSchema> {
  if ((yield* query(dialect.hasTable, "migration")).length === 0) return NO_SCHEMA;
  const [row] = yield* query<StoredSchema>(
    `SELECT coalesce(max(version), 0) AS version, coalesce(max(readable_from), 0) AS "readableFrom"
     FROM {schema}.migration`,
  );
  return row ?? NO_SCHEMA;
}

/**
 * Brings the schema up to date with the numbered SQL files, in one transaction. Of several processes that start together
 * one does it, and the others wait. A schema that is newer than this code is used as it is, if it allows that: while a
 * new version is rolled out, both are at work.
 *
 * @throws {ServiceBotError} INBOX_TOO_NEW, STORE_UNAVAILABLE
 */
export async function migrate(database: Database): Promise<void> {
  // Before the lock, because a role that may not make tables can still use them.
  if (await database.run(isCurrent)) return;
  await database.run(function* () {
    yield* query(LOCK, database.schema);
    if (yield* isCurrent()) return;
    yield* query("CREATE SCHEMA IF NOT EXISTS {schema}");
    yield* query("SET LOCAL search_path TO {schema}");
    yield* query(
      `CREATE TABLE IF NOT EXISTS {schema}.migration (
         version integer PRIMARY KEY,
         readable_from integer NOT NULL,
         applied_at timestamptz NOT NULL DEFAULT now()
       )`,
    );
    // Again: the session may have looked up names before it waited, and sees for certain only now what another made.
    const { version: stored } = yield* storedSchema();
    for (const [index, name] of migrationsIn(MIGRATIONS).entries()) {
      if (index < stored) continue;
      const sql = readFileSync(new URL(name, MIGRATIONS), "utf8");
      yield* query(sql);
      const record = "INSERT INTO {schema}.migration (version, readable_from) VALUES ($1, $2)";
      yield* query(record, index + 1, readableFrom(sql, name));
    }
  });
}

function* isCurrent(): Script<boolean> {
  const stored = yield* storedSchema();
  refuseTooNew(stored);
  return stored.version >= schemaVersion();
}

/** The first line of each file names the oldest version that can work with what it makes. */
export function readableFrom(sql: string, name: string): number {
  const [, version] = /^-- readable from: (\d+)$/m.exec(sql.split("\n", 1)[0] ?? "") ?? [];
  if (version === undefined) throw new Error(`${name} does not begin with "-- readable from: N"`);
  return Number(version);
}

/** @throws {ServiceBotError} INBOX_TOO_NEW */
export function refuseTooNew({ version, readableFrom: oldest }: StoredSchema): void {
  if (oldest <= schemaVersion()) return;
  throw new ServiceBotError(
    "INBOX_TOO_NEW",
    `The inbox in PostgreSQL was written by a newer version of service-bot (schema ${version}, this ` +
      `version knows ${schemaVersion()}). Update service-bot, or set DATABASE_SCHEMA to another schema.`,
  );
}

/**
 * Makes sure that there is an inbox of this version.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW
 */
export async function checkSchema(database: Database): Promise<void> {
  const stored = await database.run(storedSchema);
  const { schema } = database;
  if (stored.version === 0) {
    throw new ServiceBotError(
      "INBOX_MISSING",
      `The database has no inbox in the schema ${schema}. The bot creates it at its first start. ` +
        "Check DATABASE_URL and DATABASE_SCHEMA.",
    );
  }
  refuseTooNew(stored);
  if (stored.version >= schemaVersion()) return;
  throw new ServiceBotError(
    "INBOX_TOO_OLD",
    `The inbox in the schema ${schema} was written by an older version of service-bot (schema ` +
      `${stored.version}, this version has ${schemaVersion()}). Start the bot once with this version.`,
  );
}
