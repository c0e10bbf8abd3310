/** The command line asks for something that cannot be done. Exit code 2, and nothing was written. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** Paths inside the target that stand in the way; empty for every other mistake. */
  readonly conflicts: readonly string[];

  constructor(message: string, conflicts: readonly string[] = []) {
    super(message);
    this.conflicts = conflicts;
  }
}

/** Something else went wrong on the way. Exit code 1; the message says what to do about it. */
export class CreateError extends Error {
  override readonly name = "CreateError";
}

/** A person has changed their mind before the first file was written. Exit code 130. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";

  constructor() {
    super("Cancelled. Nothing was written.");
  }
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the operating system, such as ENOENT; empty for every other one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
