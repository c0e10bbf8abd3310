import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { BESIDE } from "../../core/database-files.ts";
import { hasCode, messageOf, ServiceBotError } from "../../errors.ts";
import { countContents, type InboxContents, refuseMarked } from "../sql/marks.ts";
import { syncFolder } from "./lock.ts";
import { openExisting, requireInbox } from "./open.ts";
import { asStoreError, dialect, execute } from "./store.ts";

export interface BackupProgress {
  readonly pages: number;
  readonly of: number;
}

export interface BackupReport extends InboxContents {
  /** The inbox. */
  readonly from: string;
  /** The backup. */
  readonly file: string;
  /** The backup has what was committed by this time, in ms since 1970, and nothing else. */
  readonly takenAt: number;
  readonly bytes: number;
}

/** Pages that are copied in one go. */
const PAGES = 1_000;

/**
 * Copies the file of an inbox as it is at one moment, while a bot may be using it, and checks the copy. The copy is one
 * file, with nothing beside it.
 *
 * One reading transaction lasts for all of it. Without it SQLite would begin anew after each write of another process,
 * and never end beside a busy bot. The bot is not held up: what it writes stays in its WAL until the end.
 *
 * @param to must not exist
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_NOT_EMPTY, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED,
 *   INBOX_UNUSABLE, STORE_UNAVAILABLE
 */
export async function backUpFile(
  from: string,
  to: string,
  onProgress: (progress: BackupProgress) => void = () => undefined,
): Promise<BackupReport> {
  const db = openExisting(from);
  try {
    execute(db, refuseMarked(dialect, from, ["target"]));
    const file = resolve(to);
    refuseToReplace(file);
    const { takenAt, ...contents } = await placeFile(file, async (draft) => {
      const began = await copy(db, draft, onProgress);
      return { ...began, ...settle(draft, to) };
    });
    return { from: resolve(from), file, takenAt, bytes: statSync(file).size, ...contents };
  } finally {
    db.close();
  }
}

async function copy(
  db: Database,
  to: string,
  onProgress: (progress: BackupProgress) => void,
): Promise<{ readonly takenAt: number }> {
  try {
    const takenAt = Date.now();
    db.exec("BEGIN");
    // The transaction begins with the first look at the file.
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    await db.backup(to, {
      progress({ totalPages, remainingPages }) {
        onProgress({ pages: totalPages - remainingPages, of: totalPages });
        return PAGES;
      },
    });
    db.exec("COMMIT");
    return { takenAt };
  } catch (error) {
    throw asStoreError(error);
  }
}

/**
 * Makes a copy of an inbox one file, without a WAL, and makes sure that it is whole.
 *
 * @param name its name in errors
 * @param change writes something else to it
 * @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE
 */
export function settle(
  draft: string,
  name: string,
  change: (db: Database) => void = () => undefined,
): InboxContents {
  let db: Database | undefined;
  try {
    db = new Sqlite(draft, { fileMustExist: true });
    db.pragma("synchronous = FULL");
    const contents = examine(db, name);
    change(db);
    db.pragma("journal_mode = DELETE");
    return contents;
  } catch (error) {
    if (error instanceof ServiceBotError) throw error;
    throw damaged(name, messageOf(error), error);
  } finally {
    db?.close();
  }
}

/** Makes sure that a file is a whole inbox. */
export function examine(db: Database, name: string): InboxContents {
  const [problem] = db.pragma("integrity_check") as { readonly integrity_check: string }[];
  if (problem?.integrity_check !== "ok") throw damaged(name, String(problem?.integrity_check));
  requireInbox(db, name);
  return execute(db, countContents());
}

function damaged(name: string, problem: string, cause?: unknown): ServiceBotError {
  return new ServiceBotError(
    "INBOX_UNUSABLE",
    `${name} is damaged or not an inbox: ${problem}. Take another backup.`,
    { cause },
  );
}

/** Puts back what was moved out of the way. */
export type PutBack = () => void;

/**
 * Makes a file under another name, and renames it once it is whole and on the disk. Replaces nothing.
 *
 * @param make writes the draft, which exists, is empty, and can only be read by its owner
 * @param clearWay moves away what has the name of the file, once the new file is safe
 * @throws {ServiceBotError} INBOX_NOT_EMPTY, INBOX_UNUSABLE, and what `make`, `clearWay` and its {@link PutBack} throw
 */
export async function placeFile<T>(
  file: string,
  make: (draft: string) => Promise<T> | T,
  clearWay: () => PutBack = () => () => undefined,
): Promise<T> {
  const draft = `${file}.part-${process.pid}`;
  try {
    closeSync(openSync(draft, "wx", 0o600));
  } catch (error) {
    throw unusable(file, error);
  }
  try {
    const made = await make(draft);
    sync(draft);
    exchange(draft, file, clearWay());
    return made;
  } catch (error) {
    throw error instanceof ServiceBotError ? error : unusable(file, error);
  } finally {
    for (const suffix of ["", ...BESIDE]) rmSync(`${draft}${suffix}`, { force: true });
  }
}

function exchange(draft: string, file: string, putBack: PutBack): void {
  let named = false;
  try {
    giveName(draft, file);
    named = true;
    syncFolder(dirname(file));
  } catch (error) {
    if (named) rmSync(file, { force: true });
    putBack();
    throw error;
  }
}

function giveName(draft: string, file: string): void {
  try {
    // Unlike a rename, a link fails if there is a file by now.
    linkSync(draft, file);
    unlinkSync(draft);
  } catch (error) {
    refuseToReplace(file);
    // Not every file system has links.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].some((code) => hasCode(error, code)))
      throw error;
    renameSync(draft, file);
  }
}

/** @throws {ServiceBotError} INBOX_NOT_EMPTY */
export function refuseToReplace(file: string): void {
  if (!existsSync(file)) return;
  throw new ServiceBotError("INBOX_NOT_EMPTY", `${file} exists already. Choose another file name.`);
}

function sync(file: string): void {
  const handle = openSync(file, "r+");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function unusable(file: string, cause: unknown): ServiceBotError {
  const message = `Cannot write ${file}: ${messageOf(cause)}`;
  return new ServiceBotError("INBOX_UNUSABLE", message, { cause });
}
