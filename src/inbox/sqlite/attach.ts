import { existsSync } from "node:fs";
import Sqlite, { type Database } from "better-sqlite3";
import { type Clock, systemClock } from "../../core/clock.ts";
import { hasCode, messageOf, ServiceBotError } from "../../errors.ts";
import type { AttachedInbox } from "../attached.ts";
import { markError } from "../copy.ts";
import { SqlAdmin } from "../sql/admin.ts";
import { readMark } from "./copy-mark.ts";
import { GroupCommit } from "./group-commit.ts";
import { lockOf, MEMORY, prepareConnection, schemaVersion, tooNew } from "./open.ts";
import { SqliteStore } from "./store.ts";

/** By these an inbox is told from any other database. */
const TABLES = ["attempt", "event", "lane", "step"];

/**
 * Opens the file of an inbox beside the bot that may be using it. The file is neither made nor changed in
 * its schema: that is the bot's.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_UNUSABLE
 */
export function attachInbox(file: string, clock: Clock = systemClock): AttachedInbox {
  const db = openExisting(file);
  const mark = readMark(db);
  // What was copied can still be looked at; what a copy has not finished cannot be decided about.
  if (mark?.role === "target") {
    db.close();
    throw markError(mark, file);
  }
  const group = new GroupCommit(db);
  const write = <T>(work: () => T) => group.write(work);
  return {
    admin: new SqlAdmin(new SqliteStore({ db, now: () => clock.now(), write }), () => undefined),
    served: async () => isLocked(lockOf(file)),
    async close() {
      group.close();
      db.close();
    },
  };
}

/**
 * A connection to the file of an inbox of this version.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNUSABLE
 */
export function openExisting(file: string): Database {
  if (file === MEMORY)
    throw missing("The inbox is in the bot's memory: use bot.inbox inside the bot.");
  if (!existsSync(file)) {
    throw missing(
      `There is no inbox at ${file}. The bot makes it at its first start; is DATABASE_URL right, ` +
        "and is this the bot's folder?",
    );
  }
  let db: Database | undefined;
  try {
    db = new Sqlite(file, { fileMustExist: true });
    prepareConnection(db);
    checkSchema(db, file);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof ServiceBotError) throw error;
    throw new ServiceBotError("INBOX_UNUSABLE", `${file} cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function checkSchema(db: Database, file: string): void {
  const versions = requireInbox(db, file);
  if (versions.file === versions.known) return;
  throw new ServiceBotError(
    "INBOX_TOO_OLD",
    `${file} was written by an older version of service-bot (schema ${versions.file}, this version has ` +
      `${versions.known}). Start the bot once with this version: it brings the file up to date.`,
  );
}

/**
 * Makes sure that a bot of this version could use the file, which brings an older one up to date.
 *
 * @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNUSABLE
 */
export function requireInbox(
  db: Database,
  file: string,
): { readonly file: number; readonly known: number } {
  const versions = {
    file: Number(db.pragma("user_version", { simple: true })),
    known: schemaVersion(),
  };
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  if (versions.file === 0 || !TABLES.every((name) => tables.includes(name))) {
    throw new ServiceBotError(
      "INBOX_UNUSABLE",
      `${file} is not an inbox of service-bot. Set DATABASE_URL to the bot's own file.`,
    );
  }
  if (versions.file > versions.known) throw tooNew(file, versions);
  return versions;
}

/** A bot holds this lock as long as it lives. */
export function isLocked(lockFile: string): boolean {
  if (!existsSync(lockFile)) return false;
  const lock = new Sqlite(lockFile, { fileMustExist: true, timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return false;
  } catch (error) {
    return hasCode(error, "SQLITE_BUSY");
  } finally {
    lock.close();
  }
}

function missing(message: string): ServiceBotError {
  return new ServiceBotError("INBOX_MISSING", message);
}
