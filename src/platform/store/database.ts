import { statSync } from "node:fs";
import { resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import {
  makePrivateFile,
  makePrivateFolderOf,
  migrate,
  tightenDatabase,
} from "../../core/database-files.ts";
import { asBuffer } from "../../core/image-kind.ts";
import { ConfigError, codeOf, messageOf } from "../../errors.ts";

/** The name SQLite gives to a database that lives in memory alone. */
export const MEMORY = ":memory:";

/** A restart overlaps with the end of the process before it, so a short wait is worth it, in ms. */
const BUSY_TIMEOUT_MS = 1_000;

/** Tables that were there from the first version on. */
const FIRST_TABLES = ["event", "token", "user", "webhook"];

/**
 * Opens the state file, makes its folder and brings its schema up to date. One process per file: the
 * lock lasts until the database is closed or the process ends. The file holds tokens and secrets, so its mode is 0600;
 * one of another mode is tightened.
 *
 * In a statement with a join that runs for each event, parameters of conditions are written `+?`. This
 * build of SQLite (STAT4) compiles such a statement anew for every value that its planner might look at,
 * which takes ten times as long as running it.
 *
 * @throws {ConfigError} the file is in use, was written by a newer version, or cannot be used
 */
export function openDatabase(file: string): Database {
  if (file === MEMORY) return openMemory();
  let db: Database | undefined;
  try {
    makeRoom(resolve(file));
    db = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
    // Two platforms on one file would deliver everything twice. Set before WAL: then the lock is taken
    // with the first access and kept.
    db.pragma("locking_mode = EXCLUSIVE");
    // Before anything is written, so that the file of another program stays as it is.
    checkOwn(db);
    tightenDatabase(resolve(file));
    db.pragma("journal_mode = WAL");
    return prepared(db);
  } catch (error) {
    db?.close();
    throw new ConfigError([`stateFile: ${whyUnusable(error, file)}`]);
  }
}

/** A state of the newest schema without rows, as bytes. */
let emptyState: Uint8Array | undefined;

/** Opens an empty state in memory, which may grow to 1 GB. A copy opens in a twentieth of the migrations' time. */
function openMemory(): Database {
  emptyState ??= makeEmptyState();
  return openBytes(emptyState);
}

function makeEmptyState(): Uint8Array {
  const db = prepared(new Sqlite(MEMORY));
  try {
    return db.serialize();
  } finally {
    db.close();
  }
}

/** Bytes 18 and 19 of a file say how it is journalled: 1 is a file by itself, 2 is one with a WAL. */
const JOURNAL_BYTES = [18, 19];

/** Returns a file that has no WAL beside it, because bytes in memory cannot be opened with one. The given file stays. */
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
 * Opens a SQLite file that is given as bytes, in memory, and brings its schema up to date. The bytes stay as they are.
 *
 * @param check looks at the file as it came
 * @throws {UnusableFile} it is no state of a platform, or of a newer version
 */
export function openBytes(file: Uint8Array, check: (db: Database) => void = () => {}): Database {
  // It works on a copy of its own.
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

/** Anything but a new file holds the tables of a platform. */
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
  // SQLite's own lower() knows ASCII alone.
  db.function("folded", { deterministic: true }, (text) => String(text).toLowerCase());
  migrate(db, new URL("./sql/", import.meta.url), () => new UnusableFile("newer"));
  return db;
}

/** A SQLite file that was read, and is not what it should be. */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";
  readonly reason: "foreign" | "newer" | "damaged";

  constructor(reason: UnusableFile["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

/** Returns the problem of a SQLite file. `undefined` if the error is not about the file. */
export function faultOf(error: unknown): UnusableFile["reason"] | "no SQLite file" | undefined {
  if (error instanceof UnusableFile) return error.reason;
  const code = codeOf(error);
  if (code === "SQLITE_NOTADB") return "no SQLite file";
  return code.startsWith("SQLITE_CORRUPT") ? "damaged" : undefined;
}

/** One sentence for a state file that cannot be used, with what to do about it. */
export function whyUnusable(error: unknown, file: string): string {
  switch (faultOf(error)) {
    case "no SQLite file":
      return `${file} is no SQLite file; choose another file, or remove this one`;
    case "foreign":
      return `${file} holds something else than the state of a platform; choose another file`;
    case "newer":
      return `${file} was written by a newer version of service-bot; update service-bot, or choose another file`;
    case "damaged":
      return `${file} is damaged; put back a copy of it, or remove it`;
  }
  const code = codeOf(error);
  if (code.startsWith("SQLITE_BUSY")) {
    return `another platform uses ${file}; stop it, or choose another file`;
  }
  if (isDirectory(file)) return `${file} is a directory; name a file in it`;
  if (/^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM|EROFS)/.test(code)) {
    return `${file} cannot be written; give this user the right to write the file and its folder, or choose another file`;
  }
  if (code === "ENOTDIR" || code === "EEXIST") {
    return `the folder of ${file} cannot be made, as a file is in its place; choose another file`;
  }
  if (code === "SQLITE_FULL" || code === "ENOSPC") {
    return `there is no room for ${file}; make some, or choose another file`;
  }
  return `${file} cannot be used (${messageOf(error)}); choose another file`;
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
