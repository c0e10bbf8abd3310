import { readFileSync } from "node:fs";
import { migrationsIn } from "../../core/migrate.ts";
import { ServiceBotError } from "../../errors.ts";
import type { Database, Queries } from "./database.ts";

const MIGRATIONS = new URL("./sql/", import.meta.url);

/** Names the lock under which the schema is made: a number of our own, and the schema. */
const LOCK = "SELECT pg_advisory_xact_lock(1936876642, hashtext($1))";

/** The version of the schema that this version of the code works with. */
export function schemaVersion(): number {
  return migrationsIn(MIGRATIONS).length;
}

/** How far the schema of a database has come. */
export interface StoredSchema {
  /** 0 where there is none. */
  readonly version: number;
  /** The oldest version of the code's own schema that can work with it. */
  readonly readableFrom: number;
}

export async function storedSchema(queries: Queries): Promise<StoredSchema> {
  const [found] = await queries.rows<{ readonly there: boolean }>(
    `SELECT to_regclass('{schema}.migration') IS NOT NULL AS there`,
  );
  if (found?.there !== true) return NOTHING;
  const [row] = await queries.rows<StoredSchema>(
    `SELECT coalesce(max(version), 0) AS version, coalesce(max(readable_from), 0) AS "readableFrom"
     FROM {schema}.migration`,
  );
  return row ?? NOTHING;
}

const NOTHING: StoredSchema = { version: 0, readableFrom: 0 };

/**
 * Brings the schema up to date with the numbered SQL files, all of them in one transaction. Of several
 * processes that start together one does it, and the others wait for it. One that is newer than this code is
 * left as it is and used, if it says that it may be: while a new version is rolled out both are at work.
 *
 * @throws {ServiceBotError} INBOX_TOO_NEW, STORE_UNAVAILABLE
 */
export async function migrate(database: Database): Promise<void> {
  // Looked at first without the lock: a role that may not make tables can still use them.
  if (await isCurrent(database)) return;
  await database.transaction(async (queries) => {
    await queries.rows(LOCK, [database.schema]);
    if (await isCurrent(queries)) return;
    await queries.rows("CREATE SCHEMA IF NOT EXISTS {schema}");
    await queries.rows("SET LOCAL search_path TO {schema}");
    await queries.rows(
      `CREATE TABLE IF NOT EXISTS {schema}.migration (
         version integer PRIMARY KEY,
         readable_from integer NOT NULL,
         applied_at timestamptz NOT NULL DEFAULT now()
       )`,
    );
    // Read again: the session may have looked up names before it waited, and finds what another process has
    // made meanwhile for certain only now.
    const { version: stored } = await storedSchema(queries);
    for (const [index, name] of migrationsIn(MIGRATIONS).entries()) {
      if (index < stored) continue;
      const sql = readFileSync(new URL(name, MIGRATIONS), "utf8");
      await queries.rows(sql);
      await queries.rows(
        "INSERT INTO {schema}.migration (version, readable_from) VALUES ($1, $2)",
        [index + 1, readableFrom(sql, name)],
      );
    }
  });
}

async function isCurrent(queries: Queries): Promise<boolean> {
  const stored = await storedSchema(queries);
  refuseTooNew(stored);
  return stored.version >= schemaVersion();
}

/** Each file says in its first line which versions, from which on, can work with what it makes. */
export function readableFrom(sql: string, name: string): number {
  const [, version] = /^-- readable from: (\d+)$/m.exec(sql.split("\n", 1)[0] ?? "") ?? [];
  if (version === undefined) throw new Error(`${name} does not begin with "-- readable from: N"`);
  return Number(version);
}

/** @throws {ServiceBotError} INBOX_TOO_NEW */
export function refuseTooNew({ version, readableFrom: oldest }: StoredSchema): void {
  if (oldest > schemaVersion()) throw tooNew(version);
}

function tooNew(stored: number): ServiceBotError {
  return new ServiceBotError(
    "INBOX_TOO_NEW",
    `The inbox in PostgreSQL was written by a newer version of service-bot (schema ${stored}, this ` +
      `version knows ${schemaVersion()}). Update service-bot, or set DATABASE_SCHEMA to another schema.`,
  );
}
