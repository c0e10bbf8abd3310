import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { migrate, migrationsIn } from "../../core/migrate.ts";
import { hasCode, messageOf, ServiceBotError } from "../../errors.ts";
import { markError } from "../copy.ts";
import { readMark } from "./copy-mark.ts";

/** The name SQLite gives to a database that lives in memory alone. */
export const MEMORY = ":memory:";

const MIGRATIONS = new URL("./sql/", import.meta.url);

/**
 * How long a statement waits for another connection, such as somebody's `sqlite3` shell, in ms. The whole
 * process waits with it, so this is short.
 */
const BUSY_TIMEOUT_MS = 1_000;

/** How long a start waits for the end of the process before it, in ms. */
const LOCK_TIMEOUT_MS = 5_000;

/** The WAL is cut back to this size after a checkpoint, in bytes. */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;

/** What a second bot can do. */
const OWN_FILE =
  "stop the other one, or set DATABASE_URL to a file of this one's own, or to a database in PostgreSQL " +
  "(postgres://…).";

/** An open file and what keeps other processes off it. */
export interface OpenFile {
  readonly db: Database;
  close(): void;
}

/**
 * Opens the file of an inbox, makes its folder, takes its lock and brings its schema up to date.
 *
 * @throws {ServiceBotError} INBOX_IN_USE, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE
 */
export function openFile(file: string): OpenFile {
  const opened = openMarkedFile(file);
  const mark = readMark(opened.db);
  if (mark === undefined) return opened;
  opened.close();
  throw markError(mark, file);
}

/** As {@link openFile}, also where the file takes part in a copy. Nothing but a copy may use it then. */
export function openMarkedFile(file: string): OpenFile {
  const lock = file === MEMORY ? undefined : takeLock(resolve(file));
  try {
    if (file !== MEMORY) makeOwn(file);
    const db = new Sqlite(file);
    configure(db, file);
    migrate(db, MIGRATIONS, (versions) => tooNew(file, versions));
    return {
      db,
      close() {
        db.close();
        lock?.close();
      },
    };
  } catch (error) {
    lock?.close();
    if (error instanceof ServiceBotError) throw error;
    throw new ServiceBotError("INBOX_UNUSABLE", `${file} cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Locks that this process has taken, by the file of the lock. Locks of a stopped bot are closed. */
const ownLocks = new Map<string, Database>();

/**
 * One process per file: an exclusive lock on a file beside it, which the kernel frees whenever and
 * however the process ends.
 *
 * @param remedy what to do where another one has it
 * @param timeoutMs how long the end of the process before it is waited for
 */
export function takeLock(
  file: string,
  remedy: string = OWN_FILE,
  timeoutMs: number = LOCK_TIMEOUT_MS,
): Database {
  let path = file;
  let lock: Database | undefined;
  try {
    makeFolder(dirname(file));
    path = lockOf(file);
    if (ownLocks.get(path)?.open) throw inUse("Another bot in this process", file, remedy);
    // A restart overlaps with the end of the process before it, so a short wait is worth it.
    makeOwn(path);
    lock = new Sqlite(path, { timeout: timeoutMs });
    lock.exec("BEGIN EXCLUSIVE");
    ownLocks.set(path, lock);
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof ServiceBotError) throw error;
    if (!hasCode(error, "SQLITE_BUSY")) {
      throw new ServiceBotError("INBOX_UNUSABLE", `${path} cannot be opened: ${messageOf(error)}`, {
        cause: error,
      });
    }
    throw inUse("Another process", file, remedy);
  }
}

function inUse(user: string, file: string, remedy: string): ServiceBotError {
  return new ServiceBotError(
    "INBOX_IN_USE",
    `${user} uses ${file}. A SQLite file serves one bot: ${remedy}`,
  );
}

/**
 * Makes a file that is not there yet its owner's alone: SQLite goes by the umask. What it makes beside a database gets
 * that one's mode. What is there keeps its own.
 */
function makeOwn(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // It is there, or SQLite will say why not.
  }
}

/** Node's own recursive `mkdir` never ends where a file system refuses, as below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  syncFolder(dirname(path));
}

/** A new folder is only sure to be there after a power loss once the one that it is in was synced. */
export function syncFolder(path: string): void {
  // Windows opens no folders, and needs no such thing.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** The file beside an inbox that its bot holds a lock on. */
export function lockOf(file: string): string {
  return `${canonical(resolve(file))}-lock`;
}

/** One file has one lock, and one name, whatever links lead to it. */
export function canonical(file: string): string {
  if (existsSync(file)) return realpathSync(file);
  const folder = dirname(file);
  return existsSync(folder) ? join(realpathSync(folder), basename(file)) : file;
}

/** The version of the schema that this version of the code works with. */
export function schemaVersion(): number {
  return migrationsIn(MIGRATIONS).length;
}

function configure(db: Database, file: string): void {
  // Before the first table is made, and only then: lets free pages be given back a few at a time.
  if (db.pragma("page_count", { simple: true }) === 0) db.pragma("auto_vacuum = INCREMENTAL");
  prepareConnection(db);
  if (file === MEMORY) return;
  db.pragma("journal_mode = WAL");
  expectPragma(db, "journal_mode", "wal");
}

/** What every connection to an inbox needs, for it is not kept in the file. */
export function prepareConnection(db: Database): void {
  db.pragma("trusted_schema = OFF");
  db.pragma("foreign_keys = ON");
  db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  // In WAL mode the default is NORMAL, which may lose the last commits when the power fails: an
  // acknowledged event would be gone. FULL syncs before every commit returns.
  db.pragma("synchronous = FULL");
  expectPragma(db, "synchronous", 2);
}

function expectPragma(db: Database, name: string, expected: unknown): void {
  const actual = db.pragma(name, { simple: true });
  if (actual === expected) return;
  throw new Error(`SQLite answered ${name} = ${String(actual)}, not ${String(expected)}`);
}

export function tooNew(
  file: string,
  versions: { readonly file: number; readonly known: number },
): Error {
  return new ServiceBotError(
    "INBOX_TOO_NEW",
    `${file} was written by a newer version of service-bot (schema ${versions.file}, this version knows ` +
      `${versions.known}). Update service-bot, or set DATABASE_URL to another file.`,
  );
}
