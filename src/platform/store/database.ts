import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { migrate } from "../../core/migrate.ts";
import { ConfigError, hasCode, messageOf } from "../../errors.ts";

/** The name SQLite gives to a database that lives in memory alone. */
export const MEMORY = ":memory:";

/** A restart overlaps with the end of the process before it, so a short wait is worth it, in ms. */
const BUSY_TIMEOUT_MS = 1_000;

/**
 * Opens the state file, makes its folder and brings its schema up to date. One process per file: the
 * lock lasts until the database is closed or the process ends.
 *
 * In a statement with a join that runs for each event, parameters of conditions are written `+?`. This
 * build of SQLite (STAT4) compiles such a statement anew for every value that its planner might look at,
 * which takes ten times as long as running it.
 *
 * @throws {ConfigError} the file is in use, was written by a newer version, or cannot be used
 */
export function openDatabase(file: string): Database {
  let db: Database | undefined;
  try {
    if (file !== MEMORY) mkdirSync(dirname(resolve(file)), { recursive: true });
    db = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
    configure(db);
    migrate(db, new URL("./sql/", import.meta.url), tooNew);
    return db;
  } catch (error) {
    db?.close();
    if (hasCode(error, "SQLITE_BUSY")) {
      throw new ConfigError([
        `stateFile: another platform uses ${file}; stop it, or choose another file`,
      ]);
    }
    throw new ConfigError([`stateFile: ${file} cannot be used: ${messageOf(error)}`]);
  }
}

function configure(db: Database): void {
  db.pragma("foreign_keys = ON");
  db.pragma("trusted_schema = OFF");
  // SQLite's own lower() knows ASCII alone.
  db.function("folded", { deterministic: true }, (text) => String(text).toLowerCase());
  // Two platforms on one file would deliver everything twice. Set before WAL: then the lock is taken
  // with the first access and kept.
  db.pragma("locking_mode = EXCLUSIVE");
  // In memory this is refused without a word, and nothing depends on it.
  db.pragma("journal_mode = WAL");
}

function tooNew(): Error {
  return new Error("it was written by a newer version of service-bot; update, or remove the file");
}
