import { chmodSync, chownSync, copyFileSync, existsSync, renameSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { BESIDE } from "../../core/database-files.ts";
import { messageOf, ServiceBotError } from "../../errors.ts";
import type { RestoreMark } from "../restore-mark.ts";
import { type InboxContents, markRestored, refuseMarked } from "../sql/marks.ts";
import { examine, type PutBack, placeFile, refuseToReplace, settle } from "./backup.ts";
import { canonical, isLocked, lockOf, takeLock } from "./lock.ts";
import { asUnusable, prepareConnection } from "./open.ts";
import { dialect, execute } from "./store.ts";

export interface RestoreReport extends InboxContents {
  readonly place: string;
  /** Path to which the old files were moved. `undefined` if there were none. */
  readonly movedTo: string | undefined;
}

const STOP_IT = "Stop it first; a running bot would keep using the old file.";

/**
 * Replaces an inbox with a copy of a backup, and marks the copy as restored. Existing files are moved aside or make the
 * restore fail. They are never deleted.
 *
 * @param file path of the inbox's file
 * @param moveOld true moves existing files aside
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_IN_USE, INBOX_NOT_EMPTY, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED,
 *   INBOX_UNUSABLE
 */
export async function restoreFile(
  backup: string,
  file: string,
  mark: RestoreMark,
  moveOld: boolean,
): Promise<RestoreReport> {
  refuseBackup(backup, file);
  const lock = takeLock(resolve(file), STOP_IT);
  try {
    const place = canonical(resolve(file));
    const old = whatIsThere(place);
    if (old.length > 0 && !moveOld) throw inTheWay(place, old);
    const movedTo = old.length === 0 ? undefined : nameAside(place);
    const make = (draft: string) => {
      const contents = take(backup, draft, mark);
      giveToOwnerOfFolder(draft, lockOf(file));
      return contents;
    };
    const clearWay = () => moveAside(place, movedTo ?? place, old);
    const contents = await placeFile(place, make, clearWay);
    return { place, movedTo, ...contents };
  } finally {
    lock.close();
  }
}

/**
 * Marks an inbox as restored after an operator has restored it by other means.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_IN_USE, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE
 */
export function markFile(file: string, mark: RestoreMark): RestoreReport {
  if (!existsSync(file)) throw missing(file);
  const lock = takeLock(resolve(file), STOP_IT);
  let db: Database | undefined;
  try {
    db = new Sqlite(file, { fileMustExist: true });
    prepareConnection(db);
    const contents = examine(db, file);
    setMark(db, file, mark);
    return { place: canonical(resolve(file)), movedTo: undefined, ...contents };
  } catch (error) {
    throw asUnusable(file, error);
  } finally {
    db?.close();
    lock.close();
  }
}

function refuseBackup(backup: string, file: string): void {
  if (!existsSync(backup)) throw missing(backup);
  if (canonical(resolve(backup)) === canonical(resolve(file))) {
    throw new ServiceBotError(
      "INBOX_NOT_EMPTY",
      `${backup} is the inbox itself. If it is already a restored copy, use --in-place.`,
    );
  }
  if (!isLocked(lockOf(backup))) return;
  throw new ServiceBotError(
    "INBOX_IN_USE",
    `${backup} is the inbox of a running bot, and the file alone is not a backup. ` +
      "Run `npx service-bot inbox backup`.",
  );
}

function take(backup: string, draft: string, mark: RestoreMark): InboxContents {
  // A backup copied by hand may have its last commits in a separate WAL file.
  for (const suffix of ["", "-wal", "-journal"]) {
    if (!existsSync(`${backup}${suffix}`)) continue;
    copyFileSync(`${backup}${suffix}`, `${draft}${suffix}`);
    chmodSync(`${draft}${suffix}`, 0o600);
  }
  return settle(draft, backup, (db) => setMark(db, backup, mark));
}

/** Changes the owner, because a bot that does not run as root could not open files owned by root. */
function giveToOwnerOfFolder(...files: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  for (const file of files) {
    const { uid, gid } = statSync(dirname(file));
    try {
      chownSync(file, uid, gid);
    } catch {
      // In a container or a network folder, root may lack permission to change owners. The restore works without the
      // change.
    }
  }
}

function setMark(db: Database, name: string, mark: RestoreMark): void {
  execute(db, refuseMarked(dialect, name));
  db.transaction(() => execute(db, markRestored(mark))).immediate();
}

/**
 * Returns the suffixes of the files that exist. A WAL may contain acknowledged events even if its database is missing.
 */
function whatIsThere(place: string): string[] {
  return ["", ...BESIDE].filter((suffix) => existsSync(`${place}${suffix}`));
}

function nameAside(place: string): string {
  const at = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  return `${place}.before-${at}`;
}

function moveAside(place: string, to: string, suffixes: readonly string[]): PutBack {
  const moved: string[] = [];
  const putBack = () => {
    for (const suffix of moved) moveBack(`${to}${suffix}`, `${place}${suffix}`);
  };
  try {
    for (const suffix of suffixes) {
      renameSync(`${place}${suffix}`, `${to}${suffix}`);
      moved.push(suffix);
    }
  } catch (error) {
    putBack();
    throw error;
  }
  return putBack;
}

/** @throws {ServiceBotError} INBOX_UNUSABLE, with the path of the old inbox */
function moveBack(from: string, to: string): void {
  try {
    refuseToReplace(to);
    renameSync(from, to);
  } catch (error) {
    const message =
      `Cannot put the backup in place. The old inbox is now at ${from}, and cannot be moved back ` +
      `(${messageOf(error)}). Move it and its files (${BESIDE.join(", ")}) back before you start the bot.`;
    throw new ServiceBotError("INBOX_UNUSABLE", message, { cause: error });
  }
}

function inTheWay(place: string, suffixes: readonly string[]): ServiceBotError {
  const names = suffixes.map((suffix) => `${place}${suffix}`).join(", ");
  return new ServiceBotError(
    "INBOX_NOT_EMPTY",
    `${names} already exists and may contain events that the backup lacks. Use --move-old to move it ` +
      "aside, or set DATABASE_URL to a new file.",
  );
}

function missing(file: string): ServiceBotError {
  return new ServiceBotError("INBOX_MISSING", `${file} does not exist.`);
}
