import { statSync } from "node:fs";
import { codeOf, messageOf } from "../../errors.ts";

/** A SQLite file that was read, and is not what it should be. */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";
  readonly reason: "foreign" | "newer" | "damaged";

  constructor(reason: UnusableFile["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

/** What is wrong with a SQLite file; undefined when the error tells nothing about it. */
export function faultOf(error: unknown): UnusableFile["reason"] | "no SQLite file" | undefined {
  if (error instanceof UnusableFile) return error.reason;
  const code = codeOf(error);
  if (code === "SQLITE_NOTADB") return "no SQLite file";
  return code.startsWith("SQLITE_CORRUPT") ? "damaged" : undefined;
}

/** One sentence for a state file that cannot be used, with what to do about it. */
export function whyUnusable(error: unknown, file: string): string {
  switch (faultOf(error)) {
    case "no SQLite file":
      return `${file} is no SQLite file; choose another file, or remove this one`;
    case "foreign":
      return `${file} holds something else than the state of a platform; choose another file`;
    case "newer":
      return `${file} was written by a newer version of service-bot; update service-bot, or choose another file`;
    case "damaged":
      return `${file} is damaged; put back a copy of it, or remove it`;
  }
  const code = codeOf(error);
  if (code.startsWith("SQLITE_BUSY")) {
    return `another platform uses ${file}; stop it, or choose another file`;
  }
  if (isDirectory(file)) return `${file} is a directory; name a file in it`;
  if (/^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM|EROFS)/.test(code)) {
    return `${file} cannot be written; give this user the right to write the file and its folder, or choose another file`;
  }
  if (code === "ENOTDIR" || code === "EEXIST") {
    return `the folder of ${file} cannot be made, as a file is in its place; choose another file`;
  }
  if (code === "SQLITE_FULL" || code === "ENOSPC") {
    return `there is no room for ${file}; make some, or choose another file`;
  }
  return `${file} cannot be used (${messageOf(error)}); choose another file`;
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
