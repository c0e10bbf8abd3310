import { statSync } from "node:fs";
import { resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import {
  emptyDatabase,
  makePrivateFile,
  makePrivateFolderOf,
  migrate,
  tightenDatabase,
} from "../../core/database-files.ts";
import { asBuffer } from "../../core/image-kind.ts";
import { ConfigError, codeOf, messageOf } from "../../errors.ts";

export const MEMORY = ":memory:";

/** After a restart, the previous process may still hold the file for a moment. */
const BUSY_TIMEOUT_MS = 1_000;

/** Tables that have existed since the first version. */
const FIRST_TABLES = ["event", "token", "user", "webhook"];

/**
 * Opens the state file, creates its folder and migrates its schema. The file stays locked until the database closes or
 * the process ends, because only one process may use it. Its mode becomes 0600, because it contains tokens and secrets.
 *
 * Statements that join tables and run for each event use `+?` for the parameters in their conditions. Otherwise this
 * SQLite build (STAT4) recompiles the statement for each value, which takes ten times as long as running it.
 *
 * @throws {ConfigError} if the file is in use, was written by a newer version, or cannot be used
 */
export function openDatabase(file: string): Database {
  // Memory may grow to 1 GB.
  if (file === MEMORY) return openBytes(emptyState());
  let db: Database | undefined;
  try {
    makeRoom(resolve(file));
    db = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
    // Two platforms with the same file would deliver everything twice. The pragma must precede WAL, so that the first
    // access takes the lock and keeps it.
    db.pragma("locking_mode = EXCLUSIVE");
    // Check before any write, so that another program's file stays intact.
    checkOwn(db);
    tightenDatabase(resolve(file));
    db.pragma("journal_mode = WAL");
    return prepared(db);
  } catch (error) {
    db?.close();
    throw new ConfigError([`stateFile: ${whyUnusable(error, file)}`]);
  }
}

const emptyState = emptyDatabase(() => prepared(new Sqlite(MEMORY)));

/** Bytes 18 and 19 of a SQLite file contain its journal mode: 1 without WAL, 2 with WAL. */
const JOURNAL_BYTES = [18, 19];

/**
 * Returns the file with WAL mode turned off, because an in-memory database cannot use WAL. Does not modify the given
 * bytes.
 */
export function withoutWal(file: Uint8Array): Uint8Array {
  if (JOURNAL_BYTES.every((at) => file[at] !== 2)) return file;
  const copy = Uint8Array.from(file);
  for (const at of JOURNAL_BYTES) copy[at] = 1;
  return copy;
}

function makeRoom(file: string): void {
  makePrivateFolderOf(file);
  makePrivateFile(file);
}

/**
 * Opens a SQLite file's bytes in memory and migrates the schema. Does not modify the given bytes.
 *
 * @param check inspects the file before the migration
 * @throws {UnusableFile} if the file is not a platform's state, or comes from a newer version
 */
export function openBytes(file: Uint8Array, check: (db: Database) => void = () => {}): Database {
  const db = new Sqlite(asBuffer(withoutWal(file)));
  try {
    checkOwn(db);
    check(db);
    return prepared(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Throws unless the file is empty or has a platform's tables. */
function checkOwn(db: Database): void {
  const tables = db.prepare<[], { name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table'",
  );
  const names = new Set(tables.all().map(({ name }) => name));
  const isNew = names.size === 0 && db.pragma("user_version", { simple: true }) === 0;
  if (!isNew && !FIRST_TABLES.every((name) => names.has(name))) throw new UnusableFile("foreign");
}

function prepared(db: Database): Database {
  db.pragma("foreign_keys = ON");
  db.pragma("trusted_schema = OFF");
  // SQLite's `lower()` converts only ASCII.
  db.function("folded", { deterministic: true }, (text) => String(text).toLowerCase());
  migrate(db, new URL("./sql/", import.meta.url), () => new UnusableFile("newer"));
  return db;
}

export class UnusableFile extends Error {
  override readonly name = "UnusableFile";
  readonly reason: "foreign" | "newer" | "damaged";

  constructor(reason: UnusableFile["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

/** Returns what is wrong with a SQLite file, or `undefined` if the error has another cause. */
export function faultOf(error: unknown): UnusableFile["reason"] | "no SQLite file" | undefined {
  if (error instanceof UnusableFile) return error.reason;
  const code = codeOf(error);
  if (code === "SQLITE_NOTADB") return "no SQLite file";
  return code.startsWith("SQLITE_CORRUPT") ? "damaged" : undefined;
}

export function whyUnusable(error: unknown, file: string): string {
  switch (faultOf(error)) {
    case "no SQLite file":
      return `${file} is not a SQLite file; choose another file, or remove it`;
    case "foreign":
      return `${file} is not a platform state file; choose another file`;
    case "newer":
      return `${file} was written by a newer version of service-bot; update service-bot, or choose another file`;
    case "damaged":
      return `${file} is damaged; restore a copy, or remove it`;
  }
  const code = codeOf(error);
  if (code.startsWith("SQLITE_BUSY")) {
    return `another platform uses ${file}; stop it, or choose another file`;
  }
  if (isDirectory(file)) return `${file} is a directory; choose a file`;
  if (/^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM|EROFS)/.test(code)) {
    return `${file} is not writable; change the permissions of the file and its folder, or choose another file`;
  }
  if (code === "ENOTDIR" || code === "EEXIST") {
    return `the folder of ${file} is a file; choose another path`;
  }
  if (code === "SQLITE_FULL" || code === "ENOSPC") {
    return `the disk of ${file} is full; free some space, or choose another file`;
  }
  return `cannot use ${file} (${messageOf(error)}); choose another file`;
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
