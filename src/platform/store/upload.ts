import type { Database } from "better-sqlite3";
import { invalid, type PlatformError } from "../error.ts";
import { faultOf, MEMORY, openBytes, openDatabase, UnusableFile } from "./database.ts";
import { Store } from "./store.ts";

/**
 * Opens an uploaded snapshot in memory and migrates its schema. Checks the file's integrity, schema, references and
 * payloads, because the file may come from any source.
 *
 * @throws {PlatformError} 400 VALIDATION if the file is not a snapshot, is damaged or comes from a newer version
 */
export function openUpload(file: Uint8Array): Store {
  let store: Store | undefined;
  try {
    const db = openBytes(file, checkIntegrity);
    try {
      if (!isSchema(schemaOf(db))) throw new UnusableFile("foreign");
      checkReferences(db);
      checkPayloads(db);
      store = new Store(db);
    } catch (error) {
      db.close();
      throw error;
    }
    // Throws for a state that was never seeded, because it has no bot and no webhook.
    store.webhook.get(store.people.bot().seq);
    return store;
  } catch (error) {
    store?.close();
    throw unusableSnapshot(error);
  }
}

function checkIntegrity(db: Database): void {
  if (db.pragma("integrity_check(1)", { simple: true }) !== "ok") throw new UnusableFile("damaged");
}

function checkReferences(db: Database): void {
  const [broken] = db.prepare<[], { table: string }>("PRAGMA foreign_key_check").all();
  if (broken !== undefined) throw new Error(`A row of ${broken.table} refers to a missing row`);
}

/** Throws if an event's payload is not JSON, because pages and deliveries send it unchanged. */
function checkPayloads(db: Database): void {
  const broken = db.prepare("SELECT 1 FROM event WHERE NOT json_valid(payload) LIMIT 1").get();
  if (broken !== undefined) throw new Error("An event's payload is not JSON");
}

function schemaOf(db: Database): string[] {
  const items = db.prepare<[], { type: string; name: string; sql: string }>(
    `SELECT type, name, sql FROM sqlite_schema
     WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name`,
  );
  return items.all().map(({ type, name, sql }) => `${type} ${name}: ${sql}`);
}

function isSchema(found: readonly string[]): boolean {
  const fresh = openDatabase(MEMORY);
  try {
    const known = schemaOf(fresh);
    return found.length === known.length && known.every((item, index) => item === found[index]);
  } finally {
    fresh.close();
  }
}

function unusableSnapshot(error: unknown): PlatformError {
  const take = "download one with GET /control/v1/snapshots/:id/file";
  switch (faultOf(error)) {
    case "newer":
      return invalid("A newer version of service-bot made the snapshot. Update service-bot.");
    case "no SQLite file":
      return invalid(`The file is not a SQLite file; ${take}.`);
    case "damaged":
      return invalid(`The snapshot is damaged; ${take} again.`);
    default:
      return invalid(`The SQLite file is not a snapshot; ${take}.`);
  }
}
