import { randomInt } from "node:crypto";
import { openSync, readSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";

/**
 * Marks that distinguish a database from its copies. A bot writes a new stamp after each checkpoint, so a copy that
 * lacks a checkpoint has an older stamp. A backup has a stamp of its own.
 */
export interface Stamps {
  /** Stamp in the file when the bot opened it. */
  readonly inFile: number | undefined;
  /** The bot's first stamp, which determines the range of its later ones. */
  readonly first: number;
}

/** Position and size of the application id in a database. */
const PLACE = { at: 68, bytes: 4 } as const;

/** Stamps of a run, after which the first ones return. */
const STAMPS = 2 ** 20;

/** An application id is a signed number of 32 bits. Run 0 stands for backups. */
const RUNS = 2 ** 11;

/** Handles by device and inode. They stay open, because closing one releases the process's locks on the file. */
const handles = new Map<string, number>();

export function firstStamp(): number {
  return randomInt(1, RUNS) * STAMPS + randomInt(STAMPS);
}

export function nextStamp(stamp: number): number {
  return runOf(stamp) * STAMPS + ((stamp + 1) % STAMPS);
}

export function backupStamp(): number {
  return randomInt(1, STAMPS);
}

export function setStamp(db: Database, stamp: number): void {
  db.pragma(`application_id = ${stamp}`);
}

/** Returns the stamp in a file, which may be older than the one in its WAL. `undefined` if the file is too short. */
export function readStamp(handle: number): number | undefined {
  const buffer = Buffer.alloc(PLACE.bytes);
  const length = readSync(handle, buffer, 0, PLACE.bytes, PLACE.at);
  return length < PLACE.bytes ? undefined : buffer.readInt32BE();
}

/** Returns whether a file can be the one that the bot with these stamps had open. */
export function hasStampOf(path: string, { inFile, first }: Stamps): boolean {
  const { dev, ino } = statSync(path, { bigint: true });
  const file = `${dev}:${ino}`;
  const handle = handles.get(file) ?? openSync(path, "r");
  handles.set(file, handle);
  const stamp = readStamp(handle);
  return stamp !== undefined && (stamp === inFile || runOf(stamp) === runOf(first));
}

function runOf(stamp: number): number {
  return Math.floor(stamp / STAMPS);
}
