import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import {
  emptyDatabase,
  makePrivateFile,
  migrate,
  migrationsIn,
} from "../../core/database-files.ts";
import { messageOf, ServiceBotError } from "../../errors.ts";
import { refuseMarked } from "../sql/marks.ts";
import { packValue } from "../stored-text.ts";
import { type FinishedExchange, finishExchange } from "./exchange.ts";
import { FileWatch } from "./file-watch.ts";
import { findLoss } from "./holder.ts";
import { canonical, isLocked, lockOf, makeFolder, permissionRemedy, takeLock } from "./lock.ts";
import { dialect, execute } from "./store.ts";
import { WalSync } from "./wal-sync.ts";

const MEMORY = ":memory:";

const MIGRATIONS = new URL("./sql/", import.meta.url);

/** Tables that identify a database as an inbox. */
const TABLES = ["attempt", "event", "lane", "step"];

/**
 * Lock timeout in ms. The whole process is blocked while a statement waits for another connection, such as a `sqlite3`
 * shell.
 */
const BUSY_TIMEOUT_MS = 1_000;

/**
 * Size of a connection's page cache, in KiB. better-sqlite3's default of 16,000 takes 12 MB more, and no benchmark is
 * faster with it, because the operating system caches the file too.
 */
const CACHE_KIB = 4_000;

/** Size to which a checkpoint truncates the WAL, in bytes. */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;

export interface OpenFile {
  readonly db: Database;
  /** `undefined` for a database in memory. */
  readonly disk: DiskFile | undefined;
  close(): void;
}

/** An inbox that is not in memory. */
export interface DiskFile {
  /** Path of the database, without symbolic links. */
  readonly path: string;
  readonly wal: WalSync;
  readonly watch: FileWatch;
  /** Restore that this start has ended. `undefined` if no restore was interrupted. */
  readonly restore: FinishedExchange | undefined;
}

interface Versions {
  readonly file: number;
  readonly known: number;
}

/**
 * Opens an inbox file: creates its folder, takes the lock and migrates the schema.
 *
 * @param bot the bot named in channel messages
 * @throws {ServiceBotError} INBOX_IN_USE, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_LOST, INBOX_UNUSABLE
 */
export function openFile(file: string, bot?: object): OpenFile {
  return file === MEMORY ? openMemory() : openOnDisk(resolve(file), bot);
}

const emptyInbox = emptyDatabase(() => {
  const db = new Sqlite(MEMORY);
  prepare(db, MEMORY);
  return db;
});

/** Opens an inbox in memory, which may grow to 1 GB. */
function openMemory(): OpenFile {
  const db = new Sqlite(emptyInbox());
  prepareConnection(db);
  return { db, disk: undefined, close: () => db.close() };
}

function openOnDisk(file: string, bot: object | undefined): OpenFile {
  // Released in reverse order.
  const opened: (() => void)[] = [];
  const close = () => {
    for (const release of opened.splice(0).reverse()) release();
  };
  try {
    prepareFirstStart(file);
    const lock = takeLock(file);
    opened.push(() => lock.close());
    const path = canonical(file);
    const restore = finishExchange(path);
    refuseUnsafe(path, false);
    makePrivateFile(path);
    const handle = openSync(path, "r");
    opened.push(() => closeSync(handle));
    const db = new Sqlite(path);
    opened.push(() => db.close());
    prepare(db, file);
    const wal = new WalSync(db);
    opened.push(() => wal.close());
    const watch = new FileWatch({ db, file, path, lock: lock.name, handle, bot });
    return { db, disk: { path, wal, watch, restore }, close };
  } catch (error) {
    close();
    throw asUnusable(file, error);
  }
}

function prepare(db: Database, file: string): void {
  configure(db, file);
  // Used by a migration. Null stays null.
  db.function("stored_text", (text) => packValue(text));
  migrate(db, MIGRATIONS, (versions) => tooNew(file, versions));
  execute(db, refuseMarked(dialect, file));
}

/** Creates the database before the lock, so that a lock without a database shows that there was one. */
function prepareFirstStart(file: string): void {
  makeFolder(dirname(file));
  const isFirst = !existsSync(lockOf(file));
  if (isFirst && findLoss(canonical(file), lockOf(file), false) === undefined)
    makePrivateFile(canonical(file));
}

/**
 * Refuses a path from which an inbox has disappeared, and a file that two bots could have under two paths.
 *
 * @param isServed true if another process has the lock
 * @throws {ServiceBotError} INBOX_LOST, INBOX_UNUSABLE
 */
export function refuseUnsafe(file: string, isServed: boolean = isLocked(lockOf(file))): void {
  const path = canonical(resolve(file));
  const loss = findLoss(path, lockOf(path), isServed);
  if (loss !== undefined) throw loss;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.nlink > 1) {
    throw unusable(
      `${path} has ${found.nlink} names (hard links), but SQLite names its WAL and its lock after one of them. Remove ` +
        "the other names, or copy the inbox with `npx service-bot inbox backup`.",
    );
  }
  if (found.dev !== statSync(dirname(path)).dev) {
    throw unusable(
      `${path} is mounted without its folder, so its WAL would be on another disk. Mount the folder instead.`,
    );
  }
}

/**
 * Connects to an inbox file with this version's schema. A bot may be using the file.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_LOST, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNUSABLE
 */
export function openExisting(file: string): Database {
  if (file === MEMORY)
    throw missing("The inbox is in the bot's memory. Use bot.inbox inside the bot.");
  refuseUnsafe(file);
  if (!existsSync(file)) {
    throw missing(
      `There is no inbox at ${file}. The bot creates it on its first start. ` +
        "Run this command in the bot's folder, or correct DATABASE_URL.",
    );
  }
  let db: Database | undefined;
  try {
    db = new Sqlite(file, { fileMustExist: true });
    prepareConnection(db);
    const versions = requireInbox(db, file);
    if (versions.file !== versions.known) throw tooOld(file, versions);
    return db;
  } catch (error) {
    db?.close();
    throw asUnusable(file, error);
  }
}

/**
 * Checks that a bot of this version could use the file. The bot itself migrates an older file.
 *
 * @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNUSABLE
 */
export function requireInbox(db: Database, file: string): Versions {
  const known = migrationsIn(MIGRATIONS).length;
  const versions = { file: Number(db.pragma("user_version", { simple: true })), known };
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  if (versions.file === 0 || !TABLES.every((name) => tables.includes(name))) {
    throw unusable(`${file} is not a service-bot inbox. Correct DATABASE_URL.`);
  }
  if (versions.file > known) throw tooNew(file, versions);
  return versions;
}

function configure(db: Database, file: string): void {
  // Lets a sweep free a few pages at a time. SQLite accepts this mode only before the first table exists.
  if (db.pragma("page_count", { simple: true }) === 0) db.pragma("auto_vacuum = INCREMENTAL");
  prepareConnection(db);
  if (file === MEMORY) return;
  db.pragma("journal_mode = WAL");
  expectPragma(db, "journal_mode", "wal");
}

/** Sets the pragmas that every connection needs because the file does not store them. */
export function prepareConnection(db: Database): void {
  db.pragma("trusted_schema = OFF");
  db.pragma("foreign_keys = ON");
  db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // A negative size is in KiB.
  db.pragma(`cache_size = -${CACHE_KIB}`);
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  // In WAL mode, a power loss can lose the last commits if `synchronous` is NORMAL, and these commits may contain
  // acknowledged events. With FULL, SQLite syncs the file before a commit returns.
  db.pragma("synchronous = FULL");
  expectPragma(db, "synchronous", 2);
}

function expectPragma(db: Database, name: string, expected: unknown): void {
  const actual = db.pragma(name, { simple: true });
  if (actual === expected) return;
  throw new Error(`SQLite returned ${name} = ${String(actual)} instead of ${String(expected)}`);
}

/** Converts an error to INBOX_UNUSABLE. The project's own errors are not changed. */
export function asUnusable(file: string, error: unknown): ServiceBotError {
  if (error instanceof ServiceBotError) return error;
  const message = `Cannot use ${file}: ${messageOf(error)}${permissionRemedy(file)}`;
  return new ServiceBotError("INBOX_UNUSABLE", message, { cause: error });
}

function unusable(message: string): ServiceBotError {
  return new ServiceBotError("INBOX_UNUSABLE", message);
}

function missing(message: string): ServiceBotError {
  return new ServiceBotError("INBOX_MISSING", message);
}

function tooOld(file: string, versions: Versions): ServiceBotError {
  return new ServiceBotError(
    "INBOX_TOO_OLD",
    `${file} was written by an older version of service-bot (schema ${versions.file}, this version has ` +
      `${versions.known}). Start the bot once with this version to migrate the file.`,
  );
}

function tooNew(file: string, versions: Versions): ServiceBotError {
  return new ServiceBotError(
    "INBOX_TOO_NEW",
    `${file} was written by a newer version of service-bot (schema ${versions.file}, this version knows ` +
      `${versions.known}). Update service-bot, or set DATABASE_URL to another file.`,
  );
}
