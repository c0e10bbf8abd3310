import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { BESIDE } from "../../core/database-files.ts";
import { hasCode, messageOf, ServiceBotError } from "../../errors.ts";
import { syncFolder } from "./lock.ts";

/**
 * Writes a draft and renames it once it is complete and on disk. Never replaces a file.
 *
 * @param make writes the draft, which starts as an empty file that only its owner can read
 * @throws {ServiceBotError} INBOX_NOT_EMPTY, INBOX_UNUSABLE, and the errors of `make`
 */
export async function placeFile<T>(
  file: string,
  make: (draft: string) => Promise<T> | T,
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
    giveName(draft, file);
    return made;
  } catch (error) {
    throw error instanceof ServiceBotError ? error : unusable(file, error);
  } finally {
    for (const suffix of ["", ...BESIDE]) rmSync(`${draft}${suffix}`, { force: true });
  }
}

/**
 * Renames a draft, and syncs its folder. Removes the file if the sync fails.
 *
 * @throws {ServiceBotError} INBOX_NOT_EMPTY if the file exists
 */
export function giveName(draft: string, file: string): void {
  rename(draft, file);
  try {
    syncFolder(dirname(file));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

function rename(draft: string, file: string): void {
  try {
    // Unlike a rename, a link fails if the file was created in the meantime.
    linkSync(draft, file);
    unlinkSync(draft);
  } catch (error) {
    refuseToReplace(file);
    // Some file systems do not support hard links.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].some((code) => hasCode(error, code)))
      throw error;
    renameSync(draft, file);
  }
}

/** @throws {ServiceBotError} INBOX_NOT_EMPTY */
export function refuseToReplace(file: string): void {
  if (!existsSync(file)) return;
  throw new ServiceBotError("INBOX_NOT_EMPTY", `${file} already exists. Choose another file name.`);
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
