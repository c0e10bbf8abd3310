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

/** The version of the schema in the database; 0 where there is none. */
export async function storedVersion(queries: Queries): Promise<number> {
  const [found] = await queries.rows<{ readonly there: boolean }>(
    `SELECT to_regclass('{schema}.migration') IS NOT NULL AS there`,
  );
  if (found?.there !== true) return 0;
  const [row] = await queries.rows<{ readonly version: number | null }>(
    "SELECT max(version) AS version FROM {schema}.migration",
  );
  return row?.version ?? 0;
}

/**
 * Brings the schema up to date with the numbered SQL files, all of them in one transaction. Of several
 * processes that start together one does it, and the others wait for it.
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
         applied_at timestamptz NOT NULL DEFAULT now()
       )`,
    );
    const stored = await storedVersion(queries);
    for (const [index, name] of migrationsIn(MIGRATIONS).entries()) {
      if (index < stored) continue;
      await queries.rows(readFileSync(new URL(name, MIGRATIONS), "utf8"));
      await queries.rows("INSERT INTO {schema}.migration (version) VALUES ($1)", [index + 1]);
    }
  });
}

async function isCurrent(queries: Queries): Promise<boolean> {
  const stored = await storedVersion(queries);
  if (stored > schemaVersion()) throw tooNew(stored);
  return stored === schemaVersion();
}

export function tooNew(stored: number): ServiceBotError {
  return new ServiceBotError(
    "INBOX_TOO_NEW",
    `The inbox in PostgreSQL was written by a newer version of service-bot (schema ${stored}, this ` +
      `version knows ${schemaVersion()}). Update service-bot, or set DATABASE_SCHEMA to another schema.`,
  );
}
