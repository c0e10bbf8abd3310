/** The command line asks for something impossible. Exit code 2, and nothing was written. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** Paths inside the target that stand in the way; empty for every other mistake. */
  readonly conflicts: readonly string[];

  constructor(message: string, conflicts: readonly string[] = []) {
    super(message);
    this.conflicts = conflicts;
  }
}

/** Another failure, with its remedy in the message. Exit code 1. */
export class CreateError extends Error {
  override readonly name = "CreateError";
}

/** The user has cancelled before the first file was written. Exit code 130. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";

  constructor() {
    super("Cancelled. Nothing was written.");
  }
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of an error of the operating system, such as ENOENT; empty for every other error. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Returns whether an error of the operating system has this code, such as ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

/** Meaning and remedy of the codes of the operating system. */
const meanings: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  EACCES: ["you may not write there", "Choose another directory, or change its permissions."],
  EPERM: ["you may not write there", "Choose another directory, or change its permissions."],
  ENOENT: ["nothing can be made there", "Choose another directory."],
  ENOTDIR: ["a file is in the way", "Choose another directory."],
  EROFS: ["the file system is read-only", "Choose a directory on another one."],
  ENOSPC: ["the disk is full", "Free some space, then run this again."],
  EDQUOT: ["your share of the disk is used up", "Free some space, then run this again."],
  EIO: ["the disk does not work", "Choose a directory on another one."],
  EMFILE: ["too many files are open", "Raise the limit (ulimit -n), then run this again."],
  ENAMETOOLONG: ["the path is too long", "Choose a directory nearer to the root."],
};

/**
 * Describes an error of the operating system, with its remedy.
 *
 * @param what is completed by the reason, such as "src/bot.ts could not be written"
 * @param after a sentence about the rest
 */
export function inWords(error: unknown, what: string, after: string): CreateError {
  const code = codeOf(error);
  const [reason, remedy] = meanings[code] ?? [messageOf(error), "Solve that, then run this again."];
  const named = code !== "" && !reason.includes(code) ? ` (${code})` : "";
  return new CreateError(`${what}: ${reason}${named}. ${after} ${remedy}`, { cause: error });
}
