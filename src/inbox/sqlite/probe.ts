import { existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Database } from "better-sqlite3";
import { systemClock } from "../../core/clock.ts";
import { hasCode, messageOf, ServiceBotError } from "../../errors.ts";
import { markError } from "../copy.ts";
import type { InboxProbe } from "../probe.ts";
import { isLocked, openExisting } from "./attach.ts";
import { readMark } from "./copy-mark.ts";
import { DiskGuard, MIN_FREE_BYTES } from "./disk.ts";
import { lockOf } from "./open.ts";

/**
 * Finds out whether a bot could use this file, and leaves everything as it is.
 *
 * @param file a path, not `:memory:`
 * @throws {ServiceBotError} INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE,
 *   STORE_UNAVAILABLE when the disk is nearly full
 */
export function probeFile(file: string): InboxProbe {
  const exists = existsSync(file);
  if (exists) probeExisting(file);
  const folder = existingFolder(dirname(resolve(file)));
  probeFolder(folder, file);
  new DiskGuard({ folder, minFreeBytes: MIN_FREE_BYTES, clock: systemClock }).refuseWhenLow();
  return { exists, served: exists && isLocked(lockOf(file)) };
}

function probeExisting(file: string): void {
  const db = openExisting(file);
  try {
    const mark = readMark(db);
    if (mark !== undefined) throw markError(mark, file);
    probeWrite(db, file);
  } finally {
    db.close();
  }
}

/** Writes what is there already, and takes it back. Who is writing at this moment shows that it can be done. */
function probeWrite(db: Database, file: string): void {
  try {
    db.exec("BEGIN IMMEDIATE");
    try {
      // To begin is not enough: where a file can only be read, SQLite begins to read.
      db.pragma(`user_version = ${Number(db.pragma("user_version", { simple: true }))}`);
    } finally {
      db.exec("ROLLBACK");
    }
  } catch (error) {
    if (!hasCode(error, "SQLITE_BUSY")) throw unusable(file, error);
  }
}

/** SQLite makes files beside the database, and the bot its folder. */
function probeFolder(folder: string, file: string): void {
  try {
    rmdirSync(mkdtempSync(join(folder, ".service-bot-doctor-")));
  } catch (error) {
    throw unusable(file, error);
  }
}

function existingFolder(folder: string): string {
  return existsSync(folder) ? folder : existingFolder(dirname(folder));
}

function unusable(file: string, cause: unknown): ServiceBotError {
  const message = `${file} cannot be written: ${messageOf(cause)}`;
  return new ServiceBotError("INBOX_UNUSABLE", message, { cause });
}
