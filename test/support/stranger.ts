import { statSync } from "node:fs";
import { dirname } from "node:path";

/** A user without any files here. Unlike root, this user is subject to file modes. */
export const stranger: { readonly uid: number; readonly gid: number } | undefined =
  process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

/** True if the stranger can read this checkout. */
export const hasStranger: boolean = stranger === undefined || isOpenToAll(import.meta.dirname);

function isOpenToAll(folder: string): boolean {
  return (statSync(folder).mode & 0o001) !== 0 && (folder === "/" || isOpenToAll(dirname(folder)));
}
