import { accessSync, constants, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "./errors.ts";
import { exists, hasCode, isInside } from "./paths.ts";
import { inWords } from "./system-error.ts";

/** Something in the target that a file of the bot would overwrite, or that keeps it from its place. */
export interface Obstacle {
  /** Relative to the target, with slashes; "." is the target itself. */
  readonly path: string;
  readonly reason: "exists" | "is not a directory" | "leads out of the directory";
}

/**
 * Looks for everything that stands in the way of these files. Other files in the target are none of
 * our business. The result is empty for a target that does not exist yet.
 *
 * @param paths relative to the target, with slashes
 */
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
 * Makes sure that files can be made in a directory, or in the nearest of its parents that exists.
 *
 * @throws {UsageError} the path is too long, or on a drive that is not there
 * @throws {CreateError} it cannot be written to
 */
export function refuseReadOnly(target: string): void {
  let here = target;
  try {
    while (!exists(here)) here = above(here);
    // What is no directory, or leads nowhere, is told apart later.
    if (!statSync(here).isDirectory()) return;
    accessSync(here, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (hasCode(error, "ENAMETOOLONG")) {
      throw new UsageError(
        "The directory's name is too long for this system. Choose a shorter one.",
      );
    }
    if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP")) return;
    throw inWords(error, `Nothing can be written to ${here}`, "Nothing was.");
  }
}

function above(directory: string): string {
  const parent = dirname(directory);
  if (parent !== directory) return parent;
  throw new UsageError(
    `There is no ${directory} here. Choose a directory on a drive that is there.`,
  );
}

/** True when `directory`, or the nearest of its parents that exists, is a directory. */
function isRoomFor(directory: string): boolean {
  try {
    return statSync(directory).isDirectory();
  } catch (error) {
    if (hasCode(error, "ENOTDIR") || hasCode(error, "ELOOP")) return false;
    if (!hasCode(error, "ENOENT")) throw error;
    // A link that leads nowhere is there without being a directory.
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
