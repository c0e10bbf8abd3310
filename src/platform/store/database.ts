import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { ConfigError, hasCode, messageOf } from "../../errors.ts";

/** The name SQLite gives to a database that lives in memory alone. */
export const MEMORY = ":memory:";

/** A restart overlaps with the end of the process before it, so a short wait is worth it, in ms. */
const BUSY_TIMEOUT_MS = 1_000;

/**
 * Opens the state file, makes its folder and brings its schema up to date. One process per file: the
 * lock lasts until the database is closed or the process ends.
 *
 * @throws {ConfigError} the file is in use, was written by a newer version, or cannot be used
 */
export function openDatabase(file: string): Database {
  let db: Database | undefined;
  try {
    if (file !== MEMORY) mkdirSync(dirname(resolve(file)), { recursive: true });
    db = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
    configure(db);
    migrate(db);
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
  // Two platforms on one file would deliver everything twice. Set before WAL: then the lock is taken
  // with the first access and kept.
  db.pragma("locking_mode = EXCLUSIVE");
  // In memory this is refused without a word, and nothing depends on it.
  db.pragma("journal_mode = WAL");
}

/** The numbered SQL files; the number of the last one applied is the file's user_version. */
function migrate(db: Database): void {
  const folder = new URL("./sql/", import.meta.url);
  const migrations = readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  const current = Number(db.pragma("user_version", { simple: true }));
  if (current > migrations.length) {
    throw new Error("it was written by a newer version of service-bot; update, or remove the file");
  }
  for (const [index, name] of migrations.entries()) {
    if (index < current) continue;
    const sql = readFileSync(new URL(name, folder), "utf8");
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${index + 1}`);
    }).immediate();
  }
}
