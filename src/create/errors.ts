/** Wrong arguments. The exit code is 2, and no file was written. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** Existing paths in the target that block the bot's files. Empty for any other error. */
  readonly conflicts: readonly string[];

  constructor(message: string, conflicts: readonly string[] = []) {
    super(message);
    this.conflicts = conflicts;
  }
}

/** Any other failure. The message names the remedy, and the exit code is 1. */
export class CreateError extends Error {
  override readonly name = "CreateError";
}

/** The user cancelled before the first file was written. The exit code is 130. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";

  constructor() {
    super("Cancelled. Nothing was written.");
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

const meanings: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  EACCES: ["permission denied", "Choose another directory, or change its permissions."],
  EPERM: ["permission denied", "Choose another directory, or change its permissions."],
  ENOENT: ["the directory does not exist", "Choose another directory."],
  ENOTDIR: ["a file is in the way", "Choose another directory."],
  EROFS: ["the file system is read-only", "Choose a directory on another disk."],
  ENOSPC: ["the disk is full", "Free some space, then run the command again."],
  EDQUOT: ["the disk quota is exceeded", "Free some space, then run the command again."],
  EIO: ["the disk reports an error", "Choose a directory on another disk."],
  EMFILE: ["too many files are open", "Raise the limit (ulimit -n), then run the command again."],
  ENAMETOOLONG: ["the path is too long", "Choose a shorter path."],
};

/**
 * @param what clause before the reason, such as "src/bot.ts could not be written"
 * @param after sentence about the remaining files
 */
export function inWords(error: unknown, what: string, after: string): CreateError {
  const code = codeOf(error);
  const [reason, remedy] = meanings[code] ?? [
    messageOf(error),
    "Fix the problem, then run the command again.",
  ];
  const named = code !== "" && !reason.includes(code) ? ` (${code})` : "";
  return new CreateError(`${what}: ${reason}${named}. ${after} ${remedy}`, { cause: error });
}
