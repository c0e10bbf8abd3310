// The files of a bot are few and small. Each promise of node:fs goes to another thread and back, which takes
// longer than what is done there, and loading them is a part of the start; so all is done directly.
import { lstatSync, realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { codeOf } from "./errors.ts";

/** True for an error of the operating system with this code, such as ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

/** True when there is anything at this path, be it a link that leads nowhere. */
export function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return false;
    throw error;
  }
}

/** True when `path`, all links followed, is `directory` or lies in it. Both must exist. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(realpathSync.native(directory), realpathSync.native(path));
  // On Windows the way to another drive is an absolute path.
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
