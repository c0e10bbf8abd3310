import { accessSync, constants, lstatSync, realpathSync, statSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { normalizeText, trimEndOf } from "../core/text.ts";
import { CreateError, hasCode, inWords, UsageError } from "./errors.ts";
import type { Io } from "./io.ts";

type Place = Pick<Io, "cwd" | "platform">;

/**
 * Checks that a bot can work in a directory, and that its files can be cloned on Windows.
 *
 * @param dir as typed
 * @returns its absolute path
 * @throws {UsageError}
 */
export function checkDirectory(dir: string, { cwd, platform }: Place): string {
  const target = resolve(cwd, dir);
  if (/\p{Cc}/u.test(target)) {
    throw new UsageError("The directory's name contains a control character. Choose another name.");
  }
  // On other systems, the parent directories exist, so their names are valid.
  const parts = platform === "win32" ? partsOf(dir) : [basename(target)];
  for (const part of parts) refuseUnportable(part);
  const delimiter = platform === "win32" ? ";" : ":";
  if (target.includes(delimiter)) {
    throw new UsageError(
      `The path ${target} contains "${delimiter}", the separator of PATH, so npm could not find the bot's ` +
        "commands. Choose another directory.",
    );
  }
  return target;
}

/**
 * Finds an obstacle to creating any bot in a directory. Every template has a package.json, so an existing one is an
 * obstacle.
 *
 * @throws {UsageError} if the directory or package name is invalid
 * @throws {CreateError} if the directory is not writable
 */
export function obstacleToAll(dir: string, place: Place): Obstacle | undefined {
  const target = checkDirectory(dir, place);
  packageName(basename(target));
  refuseReadOnly(target);
  return findObstacles(target, ["package.json"])[0];
}

export function directoryProblem(dir: string, place: Place): string | undefined {
  try {
    const obstacle = obstacleToAll(dir, place);
    if (obstacle === undefined) return undefined;
    return `${join(dir, obstacle.path)} ${obstacle.reason}. Choose another directory.`;
  } catch (error) {
    if (error instanceof UsageError || error instanceof CreateError) return error.message;
    throw error;
  }
}

function partsOf(dir: string): string[] {
  const parts = dir.replace(/^[a-z]:/i, "").split(/[\\/]/);
  return parts.filter((part) => !["", ".", ".."].includes(part));
}

function refuseUnportable(part: string): void {
  refuseDevice(part);
  const [forbidden] = /[<>:"|?*\\]/.exec(part) ?? [];
  if (forbidden !== undefined) {
    throw new UsageError(
      `The name ${JSON.stringify(part)} contains ${forbidden}, which Windows does not allow. Choose another directory.`,
    );
  }
  if (/[. ]$/.test(part)) {
    throw new UsageError(
      `The name ${JSON.stringify(part)} ends with a dot or a space, which Windows does not allow. Choose another directory.`,
    );
  }
}

/**
 * Windows device names, with any extension. Rejected on every system, because the repository may be cloned on Windows.
 */
const device = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$)(?:\.|$)/i;

/** npm rejects the first two names. The others are dependencies of the bot. */
const reservedNames = [
  "node_modules",
  "favicon.ico",
  "service-bot",
  "node",
  "pg",
  "pino-pretty",
  "typescript",
  "zod",
];

const MAX_NAME_LENGTH = 214;

/**
 * Returns a package name for a directory, such as `my-bot` for "My Bot!".
 *
 * @param base last part of the directory's path
 * @throws {UsageError} if no valid name remains
 */
export function packageName(base: string): string {
  const name = isPlain(base) ? base : slug(base);
  if (name === "") {
    throw new UsageError(
      `Cannot derive a package name from ${JSON.stringify(base)}. ` +
        "Choose a directory name with Latin letters or digits, such as my-bot.",
    );
  }
  refuseDevice(base);
  refuseDevice(name);
  const suggestion = suggest(name);
  if (reservedNames.includes(name)) {
    throw new UsageError(`The name ${name} is reserved. ${suggestion}`);
  }
  if (builtinModules.includes(name)) {
    throw new UsageError(
      `The name ${name} is a Node module, so npm does not allow it. ${suggestion}`,
    );
  }
  if (name.length > MAX_NAME_LENGTH) {
    throw new UsageError(
      `The name has ${name.length} characters, but npm allows ${MAX_NAME_LENGTH}. Choose a shorter name.`,
    );
  }
  return name;
}

function refuseDevice(name: string): void {
  if (!device.test(name)) return;
  throw new UsageError(`Windows reserves the name ${JSON.stringify(name)}. ${suggest(slug(name))}`);
}

function suggest(name: string): string {
  const [stem = name] = name.split(".", 1);
  return `Choose another directory, such as my-${stem}.`;
}

function isPlain(base: string): boolean {
  return /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/.test(base);
}

function slug(base: string): string {
  const name = normalizeText(base, "NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^[._-]+/, "");
  return trimEndOf(name, "._-");
}

export interface Obstacle {
  /** Relative to the target, with slashes. "." is the target itself. */
  readonly path: string;
  readonly reason: "exists" | "is not a directory" | "leads out of the directory";
}

/** @param paths relative to the target, with slashes */
export function findObstacles(target: string, paths: readonly string[]): Obstacle[] {
  if (!isRoomFor(target)) return [{ path: ".", reason: "is not a directory" }];
  const found = new Map<string, Obstacle>();
  for (const path of paths) {
    const obstacle = obstacleTo(target, path);
    if (obstacle !== undefined) found.set(obstacle.path, obstacle);
  }
  return [...found.values()];
}

/**
 * @throws {UsageError} if the path is too long or its drive does not exist
 * @throws {CreateError} if the directory is not writable
 */
function refuseReadOnly(target: string): void {
  let here = target;
  try {
    while (!exists(here)) here = above(here);
    // A file or a broken link is an obstacle, which a later check reports.
    if (!statSync(here).isDirectory()) return;
    accessSync(here, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (hasCode(error, "ENAMETOOLONG")) {
      throw new UsageError(
        "The directory's name is too long for this system. Choose a shorter name.",
      );
    }
    if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP")) return;
    throw inWords(error, `Cannot write to ${here}`, "Nothing was written.");
  }
}

function above(directory: string): string {
  const parent = dirname(directory);
  if (parent !== directory) return parent;
  throw new UsageError(
    `The drive ${directory} does not exist. Choose a directory on another drive.`,
  );
}

/** Returns true if `directory`, or its nearest existing parent, is a directory. */
function isRoomFor(directory: string): boolean {
  try {
    return statSync(directory).isDirectory();
  } catch (error) {
    if (hasCode(error, "ENOTDIR") || hasCode(error, "ELOOP")) return false;
    if (!hasCode(error, "ENOENT")) throw error;
    // A broken link exists but is not a directory.
    if (exists(directory)) return false;
    return isRoomFor(dirname(directory));
  }
}

function obstacleTo(target: string, path: string): Obstacle | undefined {
  const parts = path.split("/");
  for (let depth = 1; depth < parts.length; depth++) {
    const parent = parts.slice(0, depth).join("/");
    if (!exists(join(target, parent))) return undefined;
    const reason = whyNotInside(target, join(target, parent));
    if (reason !== undefined) return { path: parent, reason };
  }
  return exists(join(target, path)) ? { path, reason: "exists" } : undefined;
}

function whyNotInside(
  target: string,
  directory: string,
): Exclude<Obstacle["reason"], "exists"> | undefined {
  try {
    if (!statSync(directory).isDirectory()) return "is not a directory";
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP")) return "is not a directory";
    throw error;
  }
  return isInside(target, directory) ? undefined : "leads out of the directory";
}

// Synchronous calls are faster here, because a bot's files are few and small.

/** Returns true if anything exists at the path, including a broken link. */
export function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return false;
    throw error;
  }
}

/** Returns true if `path` is `directory` or inside it, after following links. Both must exist. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(realpathSync.native(directory), realpathSync.native(path));
  // On Windows, a relative path to another drive is absolute.
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
