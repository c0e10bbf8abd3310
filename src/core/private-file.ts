import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";
import { hasCode } from "../errors.ts";

/** The folder for files of the command line, such as the state of the local platform. */
export const PRIVATE_FOLDER = ".service-bot";

/** Suffixes of the files that SQLite keeps beside a database. They hold a part of its content. */
export const BESIDE: readonly string[] = ["-wal", "-shm", "-journal"];

/**
 * Makes the folder of a file with mode 0700. A folder that is there keeps its mode, unless it is
 * {@link PRIVATE_FOLDER}: others are not ours to close.
 */
export function makePrivateFolderOf(file: string): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (basename(folder) === PRIVATE_FOLDER) setMode(folder, 0o700);
}

/** Makes an empty file with mode 0600, unless there is one: SQLite goes by the umask. Refusals are left to SQLite. */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    // It is there, or SQLite reports why it cannot be.
  }
}

/** Gives a database that is there, and the files beside it, mode 0600. */
export function tightenDatabase(file: string): void {
  for (const suffix of ["", ...BESIDE]) setMode(`${file}${suffix}`, 0o600);
}

/** A file that is not there, or belongs to another user, stays as it is. */
function setMode(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    if (!["ENOENT", "EPERM", "EROFS"].some((code) => hasCode(error, code))) throw error;
  }
}
