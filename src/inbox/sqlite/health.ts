import { type StatsFs, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { FileHealth } from "../health.ts";
import { openExisting } from "./attach.ts";
import { MIN_FREE_BYTES } from "./disk.ts";

/** A larger file is not looked through, in bytes: it would take more than some seconds. */
const LARGEST_CHECKED = 1024 ** 3;

/** So many of SQLite's findings are enough to know. */
const FINDINGS = 3;

/** By the numbers that Linux has for them, where the locks and the shared memory of a WAL do not reach. */
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

/** The name of a file system that lies on another machine, by its number. */
export function networkOf(type: number): string | undefined {
  return networks[type >>> 0];
}

/**
 * Looks at the file of an inbox, which a bot may be using.
 *
 * @throws {ServiceBotError} as {@link openExisting} does
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
    damage: size > LARGEST_CHECKED ? undefined : damageIn(file),
  };
}

function diskOf(folder: string): StatsFs | undefined {
  try {
    return statfsSync(folder);
  } catch {
    return undefined;
  }
}

function damageIn(file: string): readonly string[] {
  const db = openExisting(file);
  try {
    const found = db.prepare(`PRAGMA quick_check(${FINDINGS})`).pluck().all().map(String);
    return found.filter((line) => line !== "ok");
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    db.close();
  }
}
