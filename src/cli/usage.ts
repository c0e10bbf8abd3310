import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** The command was called in a way it does not understand: exit code 2, nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What a command cannot do for now, told without a stack: exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** A command of `service-bot`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** How it is called, with every flag. */
  readonly usage: string;
  /** Resolves to the exit code. */
  run(args: readonly string[]): Promise<number>;
}

export interface Arguments {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly words: readonly string[];
}

/**
 * Reads flags and words. An unknown flag is an error that lists the known ones.
 *
 * @throws {UsageError}
 */
export function readArguments(
  args: readonly string[],
  options: ParseArgsOptionsConfig,
  words: { readonly max: number },
): Arguments {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const extra = positionals[words.max];
    if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many.`);
    return { flags: values as Arguments["flags"], words: positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const known = Object.keys(options).map((name) => `--${name}`);
    const [problem] = String(error instanceof Error ? error.message : error).split(". ");
    throw new UsageError(`${problem}. Known flags: ${known.join(" ") || "none"}.`);
  }
}

/**
 * A flag that takes a whole number.
 *
 * @throws {UsageError}
 */
export function wholeNumber(
  { flags }: Arguments,
  name: string,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(String(text)) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new UsageError(`--${name} takes a whole number from ${range.min} to ${range.max}.`);
}

/** A flag that takes a text. */
export function textFlag({ flags }: Arguments, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}
