import { isAbsolute, relative, sep } from "node:path";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { maxOf } from "../core/extremes.ts";
import { fill } from "../core/fill.ts";
import { didYouMean } from "../core/names.ts";
import type { ProcessLike } from "../core/process.ts";
import { messageOf } from "../errors.ts";
import type { Extension } from "../platform/server.ts";
import { quoted } from "./output.ts";

/** Wrong arguments. The exit code is 2, and nothing was changed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly known: readonly string[];

  constructor(message: string, known: readonly string[] = []) {
    super(message);
    this.known = known;
  }

  static unknown(kind: string, name: string, known: readonly string[]): UsageError {
    const shown = kind === "flag" ? name : `"${name}"`;
    return new UsageError(`Unknown ${kind} ${shown}.${didYouMean(name, known)}`, known);
  }
}

export interface CommandErrorOptions {
  /** `error.code` in the `--json` output. */
  readonly code?: string | undefined;
  /** 2 if the user must change the configuration. Default 1. */
  readonly exitCode?: 1 | 2;
}

/** An expected failure, printed without a stack. */
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

export interface Command {
  readonly summary: string;
  readonly usage: string;
  /** Text after the usage in `--help`: every flag, and the notes. */
  readonly details: string;
  /** Serves on a local platform what the command offers elsewhere. */
  readonly extension?: Extension | undefined;
  run(args: readonly string[]): Promise<number>;
}

export type Flags<T extends ParseArgsOptionsConfig> = Readonly<
  ReturnType<typeof parseArgs<{ options: T }>>["values"]
>;

export interface Arguments<T extends ParseArgsOptionsConfig> {
  readonly flags: Flags<T>;
  readonly words: readonly string[];
}

export interface Flag {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly value?: string;
  /** Each line after a line break is indented. */
  readonly help: string;
}

interface CommandDefinition<T extends Readonly<Record<string, Flag>>> {
  readonly name: string;
  readonly summary: string;
  readonly word?: string;
  readonly intro?: string;
  readonly flags: T;
  readonly notes?: string;
  readonly extension?: Extension;
  run(given: Arguments<T>): Promise<number>;
}

/** Derives a command's parser and its `--help` text from one table of flags. */
export function defineCommand<const T extends Readonly<Record<string, Flag>>>(
  definition: CommandDefinition<T>,
): Command {
  const { name, summary, word, intro, flags, notes, extension, run } = definition;
  const rows = Object.entries(flags).map(([flag, { value, help }]) => {
    return [`--${flag}${value === undefined ? "" : ` ${value}`}`, help] as const;
  });
  const width = maxOf(rows.map(([flag]) => flag.length));
  const list = rows.map(([flag, help]) => fill(`  ${flag.padEnd(width)}  `, help)).join("\n");
  return {
    summary,
    usage: [name, word, "[flags]"].filter(Boolean).join(" "),
    details: [fill("", intro), list, fill("", notes)].filter(Boolean).join("\n\n"),
    extension,
    run: async (args) => run(readArguments(args, flags, { max: word === undefined ? 0 : 1 })),
  };
}

export function readArguments<const T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
  words: { readonly max: number },
): Arguments<T> {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const extra = positionals[words.max];
    if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
    return { flags: values as Flags<T>, words: positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const flag = /'(?:-\w, )?(--?[^\s'=<]*)/.exec(messageOf(error))?.[1] ?? "";
    const known = Object.keys(options).map((name) => `--${name}`);
    if (!known.includes(flag)) throw UsageError.unknown("flag", flag, known);
    const isBoolean = options[flag.slice(2)]?.type === "boolean";
    throw new UsageError(isBoolean ? `${flag} takes no value.` : `${flag} needs a value.`, known);
  }
}

export function wholeNumber(
  text: string | undefined,
  name: string,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new UsageError(
    `--${name} takes a whole number from ${range.min} to ${range.max} (got "${text}").`,
  );
}

export function oneOf<const T extends string>(
  text: string | undefined,
  name: string,
  values: readonly T[],
): T | undefined {
  const value = values.find((known) => known === text);
  if (text === undefined || value !== undefined) return value;
  const list = values.length === 2 ? values.join(" or ") : `one of ${values.join(", ")}`;
  throw new UsageError(`--${name} takes ${list} (got "${text}").${didYouMean(text, values)}`);
}

/** Returns the command that the user typed to start this program, so that printed commands can be pasted. */
export function ownCommand(script: string = process.argv[1] ?? ""): string {
  const parts = script.split(sep);
  if (parts.includes("node_modules")) return "npx service-bot";
  if (parts.at(-1) === "service-bot") return "service-bot";
  const path = relative(process.cwd(), script);
  return `node ${quoted(path.startsWith("..") || isAbsolute(path) ? script : path)}`;
}

/**
 * Longest delay between two reports of the same Ctrl+C, in ms. The terminal sends the signal, and npm sends it again.
 */
const SAME_MS = 100;

/**
 * Resolves on the first SIGTERM or SIGINT. A second signal ends the process immediately.
 *
 * @param target process that receives the signals
 * @param elapsed returns a monotonic time in ms
 */
export function untilSignal(
  target: ProcessLike = process,
  elapsed: () => number = () => performance.now(),
): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = () => {
      first ??= elapsed();
      if (elapsed() - first > SAME_MS) target.exit(1);
      resolve();
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) target.on(signal, onSignal);
  });
}
