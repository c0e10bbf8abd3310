import { existsSync, mkdtempSync, rmdirSync, type StatsFs, statfsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Database } from "better-sqlite3";
import { type Clock, systemClock } from "../../core/clock.ts";
import { hasCode, messageOf, ServiceBotError } from "../../errors.ts";
import type { EphemeralDisk, FileHealth, InboxProbe } from "../health.ts";
import { SqlAdmin } from "../sql/admin.ts";
import type { AttachedInbox } from "../sql/attached.ts";
import { refuseMarked } from "../sql/marks.ts";
import { Reports } from "../sql/reports.ts";
import { GroupCommit } from "./group-commit.ts";
import { DiskGuard, MIN_FREE_BYTES } from "./intake.ts";
import { isLocked, lockOf } from "./lock.ts";
import { openExisting, refuseUnsafe } from "./open.ts";
import { dialect, execute, SqliteStore } from "./store.ts";

/** Largest file to check, in bytes. Checking a larger file would take more than a few seconds. */
const MAX_CHECKED_BYTES = 1024 ** 3;

/** Maximum number of SQLite findings to report. More would not help. */
const MAX_FINDINGS = 3;

/**
 * Network file systems, by their Linux magic numbers. On a network file system, neither locks nor a WAL's shared memory
 * work across machines.
 */
const networks: Readonly<Record<number, string>> = {
  26985: "NFS",
  20859: "SMB",
  4283649346: "CIFS",
  4266872130: "SMB",
  1397113167: "AFS",
  22092: "NCP",
  12805120: "Ceph",
  16914839: "9P",
};

/**
 * File systems that lose their files when the container is replaced or the machine reboots, by their Linux magic
 * numbers.
 */
const ephemeral: Readonly<Record<number, EphemeralDisk>> = {
  16914836: "memory",
  2240043254: "memory",
  2035054128: "container",
};

/**
 * Opens an inbox file that a bot may be using. Neither creates the file nor changes its schema.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_LOST, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED,
 *   INBOX_UNUSABLE
 */
export function attachInbox(file: string, clock: Clock = systemClock): AttachedInbox {
  const db = openExisting(file);
  try {
    // An inbox that was copied may still be opened. An unfinished copy may not, because decisions made in it could be
    // lost.
    execute(db, refuseMarked(dialect, file, ["target"]));
  } catch (error) {
    db.close();
    throw error;
  }
  const group = new GroupCommit(db);
  const write = <T>(work: () => T) => group.write(work);
  const store = new SqliteStore({ db, now: () => clock.now(), write, writeWithLanes: write });
  return {
    admin: new SqlAdmin(store, () => undefined),
    reports: new Reports(store),
    served: async () => isLocked(lockOf(file)),
    async close() {
      await group.close();
      db.close();
    },
  };
}

/**
 * Checks whether a bot could use this file. Changes nothing.
 *
 * @param file a path other than `:memory:`
 * @throws {ServiceBotError} INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_LOST, INBOX_UNUSABLE,
 *   or STORE_UNAVAILABLE if the disk is nearly full
 */
export function probeFile(file: string): InboxProbe {
  refuseUnsafe(file);
  const exists = existsSync(file);
  if (exists) probeExisting(file);
  const folder = existingFolder(dirname(resolve(file)));
  // SQLite creates files in the database's folder, and the bot creates the folder if it is missing.
  try {
    rmdirSync(mkdtempSync(join(folder, ".service-bot-doctor-")));
  } catch (error) {
    throw unusable(file, error);
  }
  new DiskGuard({ folder, minFreeBytes: MIN_FREE_BYTES, clock: systemClock }).refuseWhenLow();
  return { exists, served: exists && isLocked(lockOf(file)) };
}

function probeExisting(file: string): void {
  const db = openExisting(file);
  try {
    execute(db, refuseMarked(dialect, file));
    probeWrite(db, file);
  } finally {
    db.close();
  }
}

/**
 * Checks that the file is writable: writes a pragma's current value and rolls back. A busy file is writable, because
 * another process is writing to it.
 */
function probeWrite(db: Database, file: string): void {
  try {
    db.exec("BEGIN IMMEDIATE");
    try {
      // BEGIN alone proves nothing, because on a read-only file SQLite begins a read transaction.
      db.pragma(`user_version = ${Number(db.pragma("user_version", { simple: true }))}`);
    } finally {
      db.exec("ROLLBACK");
    }
  } catch (error) {
    if (!hasCode(error, "SQLITE_BUSY")) throw unusable(file, error);
  }
}

function existingFolder(folder: string): string {
  return existsSync(folder) ? folder : existingFolder(dirname(folder));
}

function unusable(file: string, cause: unknown): ServiceBotError {
  const message = `Cannot write ${file}: ${messageOf(cause)}`;
  return new ServiceBotError("INBOX_UNUSABLE", message, { cause });
}

/**
 * Measures and checks an inbox file that a bot may be using.
 *
 * @throws {ServiceBotError} the errors of {@link openExisting}
 */
export function healthOfFile(file: string): FileHealth {
  const { mode, size } = statSync(file);
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
  const disk = diskOf(dirname(resolve(file)));
  return {
    kind: "file",
    mode: mode & 0o777,
    freeBytes: disk && disk.bavail * disk.bsize,
    minFreeBytes: MIN_FREE_BYTES,
    bytes: size,
    walBytes: wal?.size ?? 0,
    network: disk && networkOf(disk.type),
    damage: size > MAX_CHECKED_BYTES ? undefined : findDamage(file),
  };
}

function diskOf(folder: string): StatsFs | undefined {
  try {
    return statfsSync(folder);
  } catch {
    return undefined;
  }
}

/** Returns a network file system's name by its magic number, or `undefined` for a local file system. */
export function networkOf(type: number): string | undefined {
  return networks[type >>> 0];
}

/** Returns the kind of disk if the file would be lost on the next start, or `undefined` if the disk is persistent. */
export function ephemeralDiskOf(file: string): EphemeralDisk | undefined {
  const disk = diskOf(existingFolder(dirname(resolve(file))));
  return disk && ephemeral[disk.type >>> 0];
}

function findDamage(file: string): readonly string[] {
  const db = openExisting(file);
  try {
    const found = db.prepare(`PRAGMA quick_check(${MAX_FINDINGS})`).pluck().all().map(String);
    return found.filter((line) => line !== "ok");
  } catch (error) {
    return [messageOf(error)];
  } finally {
    db.close();
  }
}
