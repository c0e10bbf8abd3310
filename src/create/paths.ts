// Synchronous calls, because the files of a bot are few and small: a promise of node:fs takes longer than the work.
import { lstatSync, realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { hasCode } from "./errors.ts";

/** Returns whether anything is at a path, even a link that leads nowhere. */
export function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return false;
    throw error;
  }
}

/** Returns whether `path`, all links followed, is `directory` or inside of it. Both must exist. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(realpathSync.native(directory), realpathSync.native(path));
  // On Windows the way to another drive is an absolute path.
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
