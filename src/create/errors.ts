/** Wrong usage. Exit code 2; nothing was written. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** Existing paths inside the target that block the bot's files. Empty for every other mistake. */
  readonly conflicts: readonly string[];

  constructor(message: string, conflicts: readonly string[] = []) {
    super(message);
    this.conflicts = conflicts;
  }
}

/** Any other failure, with its remedy in the message. Exit code 1. */
export class CreateError extends Error {
  override readonly name = "CreateError";
}

/** The user cancelled before the first file was written. Exit code 130. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";

  constructor() {
    super("Cancelled. Nothing was written.");
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of a system error, such as ENOENT. Empty for any other error. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Returns whether a system error has this code. */
export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

/** Meanings and remedies of system error codes. */
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
 * Describes a system error with its remedy.
 *
 * @param what clause before the reason, such as "src/bot.ts could not be written"
 * @param after a sentence about the rest
 */
export function inWords(error: unknown, what: string, after: string): CreateError {
  const code = codeOf(error);
  const [reason, remedy] = meanings[code] ?? [messageOf(error), "Solve that, then run this again."];
  const named = code !== "" && !reason.includes(code) ? ` (${code})` : "";
  return new CreateError(`${what}: ${reason}${named}. ${after} ${remedy}`, { cause: error });
}
