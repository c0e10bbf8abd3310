import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { Database } from "better-sqlite3";
import type { CopySource } from "../copy/stores.ts";
import { openExisting } from "./attach.ts";
import { Claims } from "./claims.ts";
import { clearMark, readMark, setMark } from "./copy-mark.ts";
import { CopyRows } from "./copy-rows.ts";
import { readStore } from "./group-commit.ts";
import { History } from "./history.ts";
import { canonical, takeLock } from "./open.ts";

const STOP_IT = "stop it first, for what it does meanwhile would be missing from the copy.";

/** What an inbox in a file is called. */
export function placeOfFile(file: string): string {
  return `file:${canonical(resolve(file))}`;
}

/**
 * Opens the file of an inbox to copy it, and keeps bots off it until it is closed.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_IN_USE, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNUSABLE
 */
export function openSqliteSource(file: string): CopySource {
  // Looked at first without the lock, which would make what is not there.
  openExisting(file).close();
  const lock = takeLock(resolve(file), STOP_IT);
  let db: Database;
  try {
    db = openExisting(file);
  } catch (error) {
    lock.close();
    throw error;
  }
  const rows = new CopyRows(db);
  const write = (work: () => void) => readStore(() => db.transaction(work).immediate());
  return {
    place: placeOfFile(file),
    now: async () => Date.now(),
    count: async (table) => readStore(() => rows.count(table)),
    read: (table) => rows.read(table),
    async movedTo() {
      const mark = readStore(() => readMark(db));
      return mark?.role === "source" ? mark.other : undefined;
    },
    // The lock keeps bots off. What the last one left under way ends as it would at a start.
    hold: async () => write(() => new Claims(db, "", new History(db)).recover(Date.now())),
    leave: async (to) => write(() => setMark(db, { role: "source", other: to, run: randomUUID() })),
    release: async () => write(() => clearMark(db)),
    async reopen() {
      const marked = readStore(() => readMark(db)) !== undefined;
      write(() => clearMark(db));
      return marked;
    },
    async close() {
      db.close();
      lock.close();
    },
  };
}
