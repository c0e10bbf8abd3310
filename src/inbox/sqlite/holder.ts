import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ServiceBotError } from "../../errors.ts";
import { hasStampOf, type Stamps } from "./stamps.ts";

/**
 * Record of the last bot that had an inbox open. It outlives the bot, so that the next bot and `service-bot` notice if
 * the file is missing or is another file.
 */
export interface Holder {
  /** Identity of the database. `undefined` once it is deleted. */
  readonly database: string | undefined;
  /** Identity of the WAL. */
  readonly wal: string | undefined;
  /** Absent in the record of an earlier version. */
  readonly stamps?: Stamps | undefined;
  /** Last problem that the bot found with its files. `undefined` if they were at their paths. */
  readonly problem?: string | undefined;
  /** True if another program wrote to the database. Its contents may then be a mixture of two inboxes. */
  readonly isOverwritten?: boolean | undefined;
  /** Identity of the copy that the bot saved after its database was deleted. */
  readonly saved?: string | undefined;
  /** True once the bot has closed the inbox. */
  readonly isClosed?: boolean | undefined;
}

/** Part of the name of a copy that a bot saved after its database was deleted. */
export const SAVED = ".saved-";

/** Returns the path of the record. @param path the database's path, without symbolic links */
function holderOf(path: string): string {
  return `${path}-holder`;
}

export function writeHolder(path: string, holder: Holder): void {
  const draft = `${holderOf(path)}.part`;
  // After a power loss, an earlier bot's record would not match the database.
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600, flush: true });
  renameSync(draft, holderOf(path));
}

/** Returns `undefined` if there is no record, or if it is damaged. */
function readHolder(path: string): Holder | undefined {
  try {
    const holder: Holder = JSON.parse(readFileSync(holderOf(path), "utf8"));
    return holder;
  } catch {
    return undefined;
  }
}

/** Lets the next bot open the file at the path, even if it is not the last bot's file. */
export function forgetHolder(path: string): void {
  rmSync(holderOf(path), { force: true });
}

/**
 * Returns the inode of a file and when it was created, or `undefined` if the file is missing. In a copy of a folder, a
 * file can have an inode that another file had in the original.
 */
export function identityOf(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file && `${file.ino}:${file.birthtimeNs}`;
}

/**
 * Returns an error if an inbox has disappeared from its path. A bot must not start on an empty or older inbox, because
 * it would not know all acknowledged events.
 *
 * @param path the database's path, without symbolic links
 * @param lock path of the lock file
 * @param isServed true if another process has the lock
 */
export function findLoss(
  path: string,
  lock: string,
  isServed: boolean,
): ServiceBotError | undefined {
  const holder = readHolder(path);
  if (isServed && holder?.problem !== undefined) return lost(holder.problem);
  if (sizeOf(path) > 0) {
    if (holder === undefined) return undefined;
    const isFit = isSame(path, holder) && (isServed || !hasOtherContents(path, holder));
    return isFit ? undefined : lost(replaced(path));
  }
  // The first start creates an empty database before the lock.
  const isLockTrace = identityOf(path) === undefined && identityOf(lock) !== undefined;
  const traces = [`${path}-wal`, holderOf(path)].filter((file) => sizeOf(file) > 0);
  if (isLockTrace) traces.push(lock);
  const saved = savedFor(path);
  if (saved !== undefined) traces.push(saved);
  return traces.length === 0 ? undefined : lost(missing(path, traces, isServed));
}

function isSame(path: string, holder: Holder): boolean {
  if (holder.isOverwritten) return false;
  const database = identityOf(path);
  if (database === holder.database || database === holder.saved) return true;
  return holder.problem === undefined && (holder.isClosed === true || !hasWalOf(holder, path));
}

/** Returns true if the last bot's WAL is there, but another program has overwritten the bot's database. */
function hasOtherContents(path: string, holder: Holder): boolean {
  const { stamps, database } = holder;
  if (stamps === undefined || identityOf(path) !== database || !hasWalOf(holder, path))
    return false;
  return sizeOf(`${path}-wal`) > 0 && !hasStampOf(path, stamps);
}

function hasWalOf({ wal }: Holder, path: string): boolean {
  return wal !== undefined && identityOf(`${path}-wal`) === wal;
}

/** Returns true if the WAL beside the database belongs to another one. SQLite would apply it to the database. */
export function hasForeignWal(path: string): boolean {
  const holder = readHolder(path);
  if (holder === undefined || !hasWalOf(holder, path)) return false;
  return identityOf(path) !== holder.database || hasOtherContents(path, holder);
}

function missing(path: string, traces: readonly string[], isServed: boolean): string {
  if (isServed) return `${path} was removed or moved while a bot was using it. ${remedy(path)}.`;
  return (
    `There is no inbox at ${path}, but ${listed(traces)} shows that there was one. ${remedy(path)}, or run ` +
    `\`npx service-bot inbox restore BACKUP --move-old\`. To start with an empty inbox, delete ${listed(traces)}.`
  );
}

function replaced(path: string): string {
  return (
    `${path} is not the file that the last bot had open, or was overwritten. ${remedy(path)}. If you have restored a ` +
    "backup with other tools, run `npx service-bot inbox restore --in-place`."
  );
}

function remedy(path: string): string {
  const saved = savedFor(path);
  return saved === undefined ? "Move the file back" : `Stop the bot, and move ${saved} to ${path}`;
}

/** Returns the newest copy that a bot saved. */
function savedFor(path: string): string | undefined {
  const [folder, prefix] = [dirname(path), `${basename(path)}${SAVED}`];
  try {
    const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
    const newest = names.sort().at(-1);
    return newest === undefined ? undefined : join(folder, newest);
  } catch {
    return undefined;
  }
}

function listed(paths: readonly string[]): string {
  return paths.map((path) => basename(path)).join(" and ");
}

/** Returns a file's size in bytes. 0 if the file is missing. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function lost(message: string): ServiceBotError {
  return new ServiceBotError("INBOX_LOST", message);
}
