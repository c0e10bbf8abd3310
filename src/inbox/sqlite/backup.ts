import { statSync } from "node:fs";
import { resolve } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { messageOf, ServiceBotError } from "../../errors.ts";
import { countContents, type InboxContents, refuseMarked } from "../sql/marks.ts";
import { openExisting, requireInbox } from "./open.ts";
import { placeFile, refuseToReplace } from "./place-file.ts";
import { backupStamp, setStamp } from "./stamps.ts";
import { dialect, execute } from "./store.ts";
import { asStoreError } from "./store-error.ts";

export interface BackupProgress {
  readonly pages: number;
  readonly of: number;
}

export interface BackupReport extends InboxContents {
  /** Path of the inbox's file. */
  readonly from: string;
  /** Path of the backup. */
  readonly file: string;
  /** Time in ms since 1970. The backup contains all commits before this time and none after it. */
  readonly takenAt: number;
  readonly bytes: number;
}

/** Pages copied per step. */
const PAGES = 1_000;

/**
 * Copies an inbox's file as of one point in time, and checks the copy. A bot may be using the inbox. The copy is a
 * single file without a WAL.
 *
 * One read transaction spans the whole copy, because otherwise SQLite would start over whenever another process writes.
 * The bot is not blocked, but its WAL grows until the copy ends.
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
    // The first read starts the transaction.
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
 * Merges the WAL into the copy of an inbox, and checks that the copy is complete.
 *
 * @param name the copy's name in error messages
 * @param change writes more to the copy
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
    setStamp(db, backupStamp());
    db.pragma("journal_mode = DELETE");
    return contents;
  } catch (error) {
    if (error instanceof ServiceBotError) throw error;
    throw damaged(name, messageOf(error), error);
  } finally {
    db?.close();
  }
}

/** Checks that a file is a complete inbox, and counts its contents. */
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
