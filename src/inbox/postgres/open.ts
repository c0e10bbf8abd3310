import { readFileSync } from "node:fs";
import { showDatabase } from "../../core/database-address.ts";
import { migrationsIn } from "../../core/database-files.ts";
import { ServiceBotError } from "../../errors.ts";
import { query, type Script } from "../sql/store.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { dialect } from "./dialect.ts";
import { loadDriver } from "./driver.ts";

/** Returns the name of a PostgreSQL inbox for messages, without user and password. */
export function nameOfInbox(url: string, schema: string): string {
  return `${showDatabase({ kind: "postgres", url })} (schema ${schema})`;
}

export type OpenOptions = Omit<DatabaseOptions, "driver">;

/** PostgreSQL 13, the oldest version that supports these statements. */
const MIN_VERSION = 130_000;

const SETTINGS = `
SELECT current_setting('server_version_num')::integer AS version, pg_is_in_recovery() AS standby,
  current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding`;

interface SettingsRow {
  readonly version: number;
  readonly standby: boolean;
  readonly fsync: string;
  readonly encoding: string;
}

/**
 * Connects, and checks that commits are durable.
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
 * Runs a step of opening a database, and closes the database if the step fails.
 *
 * @throws {ServiceBotError} INBOX_UNUSABLE, and the errors of `work`
 */
export async function openWith<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await database.close();
    // An unreachable store counts as unusable on startup. Later, it counts as temporarily unavailable.
    const away = error instanceof ServiceBotError && error.code === "STORE_UNAVAILABLE";
    throw away ? unusable(error.message) : error;
  }
}

function unusable(message: string): ServiceBotError {
  return new ServiceBotError("INBOX_UNUSABLE", message);
}

function problemOf({ version, standby, fsync, encoding }: SettingsRow): string | undefined {
  if (version < MIN_VERSION) return "service-bot needs PostgreSQL 13 or newer. Update the server.";
  if (standby) return "DATABASE_URL names a standby, which refuses writes. Use the primary server.";
  if (encoding !== "UTF8") {
    return `The database encoding is ${encoding}. Create a database with UTF8 encoding.`;
  }
  if (fsync === "on") return undefined;
  return "PostgreSQL has fsync = off, so a crash would lose acknowledged events. Turn it on for the server.";
}

const MIGRATIONS = new URL("./sql/", import.meta.url);

/** Lock for migrations. The key is this project's own number and the schema. */
const LOCK = "SELECT pg_advisory_xact_lock(1936876642, hashtext($1))";

function schemaVersion(): number {
  return migrationsIn(MIGRATIONS).length;
}

/** Schema version stored in a database. */
export interface StoredSchema {
  /** 0 if the schema does not exist. */
  readonly version: number;
  /** Oldest version of the code that works with the database. */
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
 * Migrates the schema with the numbered SQL files, in one transaction. If several processes start together, one
 * migrates and the others wait. A newer schema that allows older code is left as it is, because both versions run
 * during a rollout.
 *
 * @throws {ServiceBotError} INBOX_TOO_NEW, STORE_UNAVAILABLE
 */
export async function migrate(database: Database): Promise<void> {
  // Check before taking the lock, because a role without permission to create tables can still use existing tables.
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
    // Read again, because the session reliably sees another process's tables only after waiting for the lock.
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

/** Returns the version on a migration's first line: the oldest version whose code works with the migrated schema. */
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
 * Checks that the database has an inbox of this version.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW
 */
export async function checkSchema(database: Database): Promise<void> {
  const stored = await database.run(storedSchema);
  const { schema } = database;
  if (stored.version === 0) {
    throw new ServiceBotError(
      "INBOX_MISSING",
      `The database has no inbox in the schema ${schema}. The bot creates it on its first start. ` +
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
