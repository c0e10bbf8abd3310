import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** The command was called in a way it does not understand: exit code 2, nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** How it is called, where that is less than the whole command's. */
  readonly usage: string | undefined;

  constructor(message: string, usage?: string) {
    super(message);
    this.usage = usage;
  }
}

export interface CommandErrorOptions {
  /** For programs: `error.code` of what `--json` prints. */
  readonly code?: string | undefined;
  /** 2 where another configuration is the remedy. Default 1. */
  readonly exitCode?: 1 | 2;
}

/** What a command cannot do for now, told without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: string | undefined;
  readonly exitCode: 1 | 2;

  constructor(message: string, { code, exitCode = 1 }: CommandErrorOptions = {}) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** A command of `service-bot`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** How it is called, with every flag. */
  readonly usage: string;
  /** What `--help` tells after that. */
  readonly details?: string;
  /** Resolves to the exit code. */
  run(args: readonly string[]): Promise<number>;
}

export interface Arguments {
  readonly flags: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
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

/** What a flag was given that can be repeated. */
export function textFlags({ flags }: Arguments, name: string): readonly string[] {
  const value = flags[name];
  return Array.isArray(value) ? value : [];
}
