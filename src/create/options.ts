import { parseArgs } from "node:util";
import {
  type PackageManager,
  packageManagers,
  type Store,
  stores,
  type Template,
  templates,
} from "./choices.ts";
import { messageOf, UsageError } from "./errors.ts";
import type { Io } from "./io.ts";
import { npmSaidYes, refuseKeptFlags } from "./kept-flags.ts";

/** What the command line asks for. Undefined: not said, so the default is taken. */
export interface Options {
  readonly dir: string | undefined;
  readonly template: Template | undefined;
  readonly store: Store | undefined;
  readonly packageManager: PackageManager | undefined;
  readonly install: boolean | undefined;
  readonly git: boolean | undefined;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
  /** What the bot shall depend on in place of the scaffolder's own version. */
  readonly serviceBot: string | undefined;
}

export type Request = "help" | "version" | Options;

/** Every flag, as `parseArgs` takes it. */
export const flags = {
  template: { type: "string", value: "NAME" },
  store: { type: "string", value: "NAME" },
  pm: { type: "string", value: "NAME" },
  install: { type: "boolean", default: false },
  "no-install": { type: "boolean", default: false },
  git: { type: "boolean", default: false },
  "no-git": { type: "boolean", default: false },
  yes: { type: "boolean", short: "y", default: false },
  "dry-run": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  "service-bot": { type: "string", value: "SPEC" },
  help: { type: "boolean", short: "h", default: false },
  version: { type: "boolean", short: "v", default: false },
} as const;

/**
 * Reads the command line.
 *
 * @throws {UsageError}
 */
export function readOptions(argv: readonly string[], env: Io["env"]): Request {
  const { values, positionals } = parse(withoutSeparators(argv));
  if (values.help) return "help";
  if (values.version) return "version";
  const said = Object.entries(values).filter(([, value]) => value !== undefined && value !== false);
  refuseKeptFlags(env, new Set(said.map(([name]) => name)));
  return {
    dir: onlyDirectory(positionals),
    template: oneOf("--template", values.template, templates),
    store: oneOf("--store", values.store, stores),
    packageManager: oneOf("--pm", values.pm, packageManagers),
    install: yesOrNo("install", values),
    git: yesOrNo("git", values),
    yes: values.yes || npmSaidYes(env),
    dryRun: values["dry-run"],
    json: values.json,
    serviceBot: spec(values["service-bot"]),
  };
}

/** True when the answer shall be JSON; known even where the rest of the command line is wrong. */
export function wantsJson(argv: readonly string[]): boolean {
  return argv.includes("--json");
}

/** npm takes one `--` away; other package managers, and people, leave some in. */
function withoutSeparators(argv: readonly string[]): string[] {
  return argv.filter((argument) => argument !== "--");
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: flags, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${wordsOf(error)} Run with --help to see every flag.`);
  }
}

/** What is wrong with the flags. Node's own words are about how its parser sees them. */
function wordsOf(error: unknown): string {
  const flag = /'(?:-\w, )?(--?[\w-]+)/.exec(messageOf(error))?.[1] ?? "";
  const known = Object.entries(flags).find(([name]) => `--${name}` === flag)?.[1];
  if (known?.type === "boolean") return `${flag} takes no value.`;
  if (known?.type === "string") return `${flag} needs a value: ${flag} ${known.value}.`;
  const close = closest(flag.replace(/^-+/, ""));
  return `There is no flag ${flag}.${close === undefined ? "" : ` Did you mean --${close}?`}`;
}

/** The flag that has the same letters as a misspelt one, but for one at most: `tempalte`, `dryrun`. */
function closest(name: string): string | undefined {
  return Object.keys(flags).find((flag) => name !== "" && lettersApart(flag, name) <= 1);
}

/** How many letters the one has that the other lacks, whichever is more; their order does not count. */
function lettersApart(one: string, other: string): number {
  const lacking = (a: string, b: string) =>
    [...a].reduce((left, letter) => left.replace(letter, ""), b).length;
  return Math.max(lacking(one, other), lacking(other, one));
}

function yesOrNo(
  name: "install" | "git",
  values: Readonly<Record<"install" | "git" | "no-install" | "no-git", boolean>>,
): boolean | undefined {
  const [yes, no] = [values[name], values[`no-${name}`]];
  if (yes && no) throw new UsageError(`--${name} and --no-${name} exclude each other. Say one.`);
  return yes || no ? yes : undefined;
}

function onlyDirectory(positionals: readonly string[]): string | undefined {
  const [dir, ...rest] = positionals;
  if (dir === "") {
    throw new UsageError("The directory has no name. Say where the bot shall go, such as my-bot.");
  }
  if (rest.length > 0) {
    const all = positionals.join(" ");
    throw new UsageError(
      `One directory is enough, and here are ${positionals.length}: ${positionals.join(", ")}. ` +
        `A name with blanks goes in quotes: "${all}"`,
    );
  }
  return dir;
}

function oneOf<T extends string>(
  flag: string,
  value: string | undefined,
  known: readonly T[],
): T | undefined {
  if (value === undefined) return undefined;
  const found = known.find((name) => name === value);
  if (found !== undefined) return found;
  const list = known.join(", ");
  throw new UsageError(`${flag} ${JSON.stringify(value)} is not available. There is: ${list}.`);
}

function spec(value: string | undefined): string | undefined {
  if (value === undefined || /^[^\s\p{Cc}]+(?: [^\s\p{Cc}]+)*$/u.test(value)) return value;
  throw new UsageError(
    "--service-bot takes what package.json may hold as a version, such as ^1.0.0 or file:../x.tgz.",
  );
}
