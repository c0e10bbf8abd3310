import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { makePrivateFile } from "../../core/database-files.ts";
import { hasCode, messageOf, ServiceBotError } from "../../errors.ts";

/** Time that startup waits for the previous process to exit, in ms. */
const LOCK_TIMEOUT_MS = 5_000;

const OWN_FILE =
  "Stop the other bot, or set DATABASE_URL to another file or to a PostgreSQL database (postgres://…).";

/** This process's locks, by the path of the lock file. A stopped bot has closed its lock. */
const ownLocks = new Map<string, Database>();

/**
 * Locks an inbox's file for one process, with an exclusive SQLite lock on a separate file in the same folder. The
 * kernel frees the lock however the process ends.
 *
 * @param remedy remedy to print if another process holds the lock
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
    makePrivateFile(path);
    // During a restart, the previous process may not have exited yet.
    lock = new Sqlite(path, { timeout: timeoutMs });
    lock.exec("BEGIN EXCLUSIVE");
    ownLocks.set(path, lock);
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof ServiceBotError) throw error;
    if (hasCode(error, "SQLITE_BUSY")) throw inUse("Another process", file, remedy);
    const message = `Cannot open ${path}: ${messageOf(error)}${permissionRemedy(path)}`;
    throw new ServiceBotError("INBOX_UNUSABLE", message, { cause: error });
  }
}

/** A lock that this user may not open counts as locked, because another user's bot may have it. */
export function isLocked(lockFile: string): boolean {
  if (!existsSync(lockFile)) return false;
  let lock: Database | undefined;
  try {
    lock = new Sqlite(lockFile, { fileMustExist: true, timeout: 0 });
    lock.exec("BEGIN EXCLUSIVE");
    return false;
  } catch (error) {
    return hasCode(error, "SQLITE_BUSY") || hasCode(error, "SQLITE_CANTOPEN");
  } finally {
    lock?.close();
  }
}

/**
 * Returns the remedy if this user may not write or create the file, for example in a volume owned by root. Empty if the
 * user may.
 */
export function permissionRemedy(file: string): string {
  const path = resolve(file);
  if (!existsSync(path) && path !== dirname(path)) return permissionRemedy(dirname(path));
  try {
    accessSync(path, constants.W_OK);
    return "";
  } catch (error) {
    if (!hasCode(error, "EACCES")) return "";
    const { uid, mode } = statSync(path);
    const access = `owner ${uid}, mode ${(mode & 0o777).toString(8)}`;
    return `. User ${process.getuid?.()} has no permission to write to ${path} (${access}). Change its owner or its mode, or run the bot as its owner.`;
  }
}

/** Returns the path of the lock file. It is in the inbox's folder. */
export function lockOf(file: string): string {
  return `${canonical(resolve(file))}-lock`;
}

/** Resolves symbolic links, so that each file has only one name. */
export function canonical(file: string): string {
  if (existsSync(file)) return realpathSync(file);
  const folder = dirname(file);
  // The target of a link may be missing.
  const target = targetOf(file);
  if (target !== undefined) return canonical(resolve(folder, target));
  return existsSync(folder) ? join(realpathSync(folder), basename(file)) : file;
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

/** Syncs a folder. Before the sync, a new file in it may not survive a power loss. */
export function syncFolder(path: string): void {
  // Windows cannot open folders and does not need the sync.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * Creates a folder and its parents. Node's recursive `mkdir` never returns if the file system refuses to create
 * folders, as /proc does.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  syncFolder(dirname(path));
}

function inUse(user: string, file: string, remedy: string): ServiceBotError {
  return new ServiceBotError(
    "INBOX_IN_USE",
    `${user} is using ${file}, and a SQLite file can serve only one bot. ${remedy}`,
  );
}
