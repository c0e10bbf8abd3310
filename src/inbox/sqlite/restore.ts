import { chmodSync, chownSync, copyFileSync, existsSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { ServiceBotError } from "../../errors.ts";
import type { RestoreMark } from "../restore-mark.ts";
import { type InboxContents, markRestored, refuseMarked } from "../sql/marks.ts";
import { examine, settle } from "./backup.ts";
import {
  EXCHANGE,
  exchange,
  finishExchange,
  moveBesideAside,
  timestamp,
  whatIsThere,
} from "./exchange.ts";
import { forgetHolder, hasForeignWal } from "./holder.ts";
import { canonical, isLocked, lockOf, takeLock } from "./lock.ts";
import { asUnusable, prepareConnection } from "./open.ts";
import { placeFile } from "./place-file.ts";
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
  const isFirst = !existsSync(lockOf(file));
  const lock = takeLock(resolve(file), STOP_IT);
  try {
    const place = canonical(resolve(file));
    finishExchange(place);
    const old = whatIsThere(place);
    if (old.length > 0 && !moveOld) throw inTheWay(place, old);
    const draft = `${place}${EXCHANGE}${timestamp()}`;
    const contents = await placeFile(draft, (empty) => {
      const taken = take(backup, empty, mark);
      giveToOwnerOfFolder(empty, lockOf(file));
      return taken;
    });
    const movedTo = exchange(draft, place);
    forgetHolder(place);
    return { place, movedTo, ...contents };
  } catch (error) {
    // A lock without an inbox would look like a lost inbox.
    if (isFirst && !existsSync(file)) rmSync(lockOf(file), { force: true });
    throw asUnusable(file, error);
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
    const place = canonical(resolve(file));
    if (hasForeignWal(place)) moveBesideAside(place);
    db = new Sqlite(file, { fileMustExist: true });
    prepareConnection(db);
    const contents = examine(db, file);
    setMark(db, file, mark);
    forgetHolder(place);
    return { place, movedTo: undefined, ...contents };
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
