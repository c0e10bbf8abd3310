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
  throw new ServiceBotError(
    "INBOX_NOT_EMPTY",
    `There is a file at ${file} already, and nothing is replaced. Name one that is not there yet.`,
  );
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
  const message = `${file} cannot be written: ${messageOf(cause)}`;
  return new ServiceBotError("INBOX_UNUSABLE", message, { cause });
}
