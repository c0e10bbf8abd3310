import { closeSync, mkdirSync, openSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { exists, isInside } from "./directory.ts";
import { CreateError, hasCode, inWords } from "./errors.ts";
import type { BotFile } from "./template.ts";

interface CreatedPaths {
  readonly files: string[];
  readonly directories: string[];
}

/**
 * Writes all of a bot's files, or none. A path that has appeared since the check is never overwritten, and a link is
 * never followed out of the target.
 *
 * @throws {CreateError} after removing all written files
 */
export function writeFiles(target: string, files: readonly BotFile[]): void {
  const made: CreatedPaths = { files: [], directories: [] };
  let path = ".";
  try {
    makeDirectory(target, made);
    for (const file of files) {
      path = file.path;
      writeOne(target, file, made);
    }
  } catch (error) {
    const left = removeCreated(made);
    const after = left === 0 ? "All written files were removed." : `${left} files remain.`;
    const what = path === "." ? target : path;
    if (error instanceof CreateError) throw new CreateError(`${error.message} ${after}`);
    throw inWords(error, `Cannot write ${what}`, after);
  }
}

function writeOne(target: string, { path, content, mode }: BotFile, made: CreatedPaths) {
  const file = join(target, path);
  makeDirectory(dirname(file), made);
  if (!isInside(target, dirname(file))) {
    throw new CreateError(`${path} would be outside ${target}.`);
  }
  const descriptor = openNew(file, path, mode);
  made.files.push(file);
  try {
    writeFileSync(descriptor, content);
  } finally {
    closeSync(descriptor);
  }
}

function openNew(file: string, path: string, mode: number | undefined): number {
  try {
    return openSync(file, "wx", mode);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    throw new CreateError(`Another program created ${path} in the meantime.`);
  }
}

/**
 * Checks that a bot's directory can be created, so that a failure is reported before slow work.
 *
 * @throws {CreateError}
 */
export function tryDirectory(target: string): void {
  const made: CreatedPaths = { files: [], directories: [] };
  try {
    makeDirectory(target, made);
  } catch (error) {
    throw inWords(error, `Cannot create ${target}`, "Nothing was written.");
  } finally {
    removeCreated(made);
  }
}

function makeDirectory(directory: string, made: CreatedPaths): void {
  if (made.directories.includes(directory)) return;
  const missing: string[] = [];
  for (let here = directory; !exists(here); here = dirname(here)) missing.push(here);
  for (const here of missing.reverse()) {
    mkdirSync(here);
    made.directories.push(here);
  }
}

function removeCreated({ files, directories }: CreatedPaths): number {
  const left = files.filter((file) => !succeeds(() => unlinkSync(file)));
  // Fails for a directory that now contains another file, which must stay.
  for (const directory of directories.reverse()) succeeds(() => rmdirSync(directory));
  return left.length;
}

function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
