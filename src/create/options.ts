import { parseArgs } from "node:util";
import { didYouMean } from "../core/names.ts";
import { messageOf, UsageError } from "./errors.ts";
import type { Io } from "./io.ts";

export const templates = ["starter", "minimal", "assistant"] as const;
export const stores = ["sqlite", "postgres"] as const;
export const packageManagers = ["npm", "pnpm", "yarn", "bun"] as const;

export type Template = (typeof templates)[number];
export type Store = (typeof stores)[number];
export type PackageManager = (typeof packageManagers)[number];

export type Question = "dir" | "template" | "store" | "install" | "git";

export const OLDEST_NODE = "22.18";

export function runsBots(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, "").split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** `undefined` selects the default. */
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
  readonly serviceBot: string | undefined;
}

export type Request = "help" | "version" | Options;

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

/** Works even if the other arguments are invalid. */
export function wantsJson(argv: readonly string[]): boolean {
  return argv.includes("--json");
}

/** npm removes one `--`. Other package managers, and users, may leave more. */
function withoutSeparators(argv: readonly string[]): string[] {
  return argv.filter((argument) => argument !== "--");
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: flags, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${wordsOf(error)} Run \`${HELP}\` to list the flags.`);
  }
}

const HELP = "npm create service-bot@latest -- --help";

/** Replaces Node's own message, which gives advice about its parser. */
function wordsOf(error: unknown): string {
  const flag = /'(?:-\w, )?(--?[\w-]+)/.exec(messageOf(error))?.[1] ?? "";
  const known = Object.entries(flags).find(([name]) => `--${name}` === flag)?.[1];
  if (known?.type === "boolean") return `${flag} takes no value.`;
  if (known?.type === "string") return `${flag} needs a value: ${flag} ${known.value}.`;
  const names = Object.keys(flags).map((name) => `--${name}`);
  return `Unknown flag ${flag}.${didYouMean(flag, names)}`;
}

function yesOrNo(
  name: "install" | "git",
  values: Readonly<Record<"install" | "git" | "no-install" | "no-git", boolean>>,
): boolean | undefined {
  const [yes, no] = [values[name], values[`no-${name}`]];
  if (yes && no) throw new UsageError(`--${name} and --no-${name} cannot be combined.`);
  return yes || no ? yes : undefined;
}

function onlyDirectory(positionals: readonly string[]): string | undefined {
  const [dir, ...rest] = positionals;
  if (dir === "") {
    throw new UsageError("The directory has no name. Use a name such as my-bot.");
  }
  if (rest.length > 0) {
    const all = positionals.join(" ");
    throw new UsageError(
      `Expected one directory, got ${positionals.length}: ${positionals.join(", ")}. ` +
        `Quote a name with spaces: "${all}"`,
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
  const hint = didYouMean(value, known);
  throw new UsageError(
    `Unknown ${flag} ${JSON.stringify(value)}.${hint} Known: ${known.join(", ")}.`,
  );
}

function spec(value: string | undefined): string | undefined {
  if (value === undefined || /^[^\s\p{Cc}]+(?: [^\s\p{Cc}]+)*$/u.test(value)) return value;
  throw new UsageError(
    "--service-bot takes a version for package.json, such as ^1.0.0 or file:../x.tgz.",
  );
}

/** Tests whether npm has consumed a flag. npm records the flags that it consumes in variables. */
const traces: Readonly<Record<string, (env: Io["env"]) => boolean>> = {
  template: ({ npm_config_template: value }) => value !== undefined,
  store: ({ npm_config_store: value }) => value !== undefined,
  pm: ({ npm_config_pm: value }) => value !== undefined,
  "service-bot": ({ npm_config_service_bot: value }) => value !== undefined,
  install: ({ npm_config_install: value }) => value === "true",
  "no-install": ({ npm_config_install: value }) => value === "false",
  git: ({ npm_config_git: value }) => value === "true",
  "no-git": ({ npm_config_git: value }) => value === "false",
};

/**
 * Rejects arguments that npm has altered. Without a `--` before the flags, npm consumes them and leaves their values
 * among the arguments.
 *
 * @param given names of the flags that arrived
 * @throws {UsageError}
 */
function refuseKeptFlags(env: Io["env"], given: ReadonlySet<string>): void {
  if (!env["npm_config_user_agent"]?.startsWith("npm/")) return;
  const kept = Object.keys(traces).filter((name) => !given.has(name) && traces[name]?.(env));
  if (kept.length === 0) return;
  const flags = kept.map((name) => `--${name}`);
  throw new UsageError(
    `npm did not pass on ${flags.join(", ")}. Put the flags after "--": ` +
      `npm create service-bot@latest my-bot -- ${flags[0]} …`,
  );
}

function npmSaidYes(env: Io["env"]): boolean {
  return env["npm_config_yes"] === "true";
}

/** Variables set by coding agents and CI services. */
export const UNATTENDED_VARIABLES: readonly string[] = [
  "AI_AGENT",
  "ANTIGRAVITY_AGENT",
  "AUGMENT_AGENT",
  "CLAUDECODE",
  "CLAUDE_CODE",
  "CODEX_CI",
  "CODEX_SANDBOX",
  "CODEX_THREAD_ID",
  "COPILOT_AGENT",
  "COPILOT_CLI",
  "CURSOR_AGENT",
  "CURSOR_TRACE_ID",
  "GEMINI_CLI",
  "GOOSE_PROVIDER",
  "OPENCODE",
  "OPENCODE_CLIENT",
  "REPL_ID",
  "CI",
  "CONTINUOUS_INTEGRATION",
  "BUILD_NUMBER",
  "TEAMCITY_VERSION",
  "TF_BUILD",
];

export function isAttended(env: Io["env"]): boolean {
  const isSet = (name: string) => !["", "0", "false"].includes(env[name]?.toLowerCase() ?? "");
  // A dumb terminal cannot move the cursor back, which every prompt needs.
  return env["TERM"] !== "dumb" && !UNATTENDED_VARIABLES.some(isSet);
}

export const help: string = `Creates a bot.

  npm create service-bot@latest my-bot
  npm create service-bot@latest my-bot -- --pm pnpm --no-git

Usage: create-service-bot [DIR] [flags]    ("." is the current directory)

  --template NAME      ${templates.join(", ")} (default ${templates[0]})
  --store NAME         ${stores.join(", ")} (default ${stores[0]})
  --pm NAME            ${packageManagers.join(", ")} (default: the one in use)
  --install            install the dependencies (default)
  --no-install         write the files only
  --git                git init and a first commit (default)
  --no-git             no repository
  --service-bot SPEC   version of service-bot to depend on, or a file: path
                       relative to DIR
  --yes, -y            use the defaults, ask nothing
  --dry-run            list the files, write nothing
  --json               print one JSON object at the end, ask nothing
  --help, -h  --version, -v

On a terminal, the command asks for each choice that has no flag. In a pipe, in
CI and under a coding agent, it uses and prints the defaults, and requires DIR.

Existing files are never overwritten. Bots need Node ${OLDEST_NODE} or newer. If this Node
is older, the bot gets a newer one as a devDependency.

Exit codes: 0 done, 2 wrong usage (nothing written), 130 cancelled, 1 other.
`;
