import { CreateError, codeOf, messageOf } from "./errors.ts";

/** What the codes of the operating system mean, and what to do. */
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
 * An error of the operating system in words, with its remedy.
 *
 * @param what the sentence that the reason completes, such as "src/bot.ts could not be written"
 * @param after what became of the rest, as a sentence
 */
export function inWords(error: unknown, what: string, after: string): CreateError {
  const code = codeOf(error);
  const [reason, remedy] = meanings[code] ?? [messageOf(error), "Solve that, then run this again."];
  const named = code !== "" && !reason.includes(code) ? ` (${code})` : "";
  return new CreateError(`${what}: ${reason}${named}. ${after} ${remedy}`, { cause: error });
}
