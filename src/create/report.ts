import { basename, relative } from "node:path";
import { styleText } from "node:util";
import { fillLine } from "../core/fill.ts";
import { printableText } from "../core/safe-text.ts";
import { Cancelled, CreateError, messageOf, UsageError } from "./errors.ts";
import type { Io } from "./io.ts";
import { OLDEST_NODE, type Options, type Question } from "./options.ts";
import { packageManagerFacts, scriptCommand } from "./package-manager.ts";
import type { Project } from "./project.ts";
import type { Repository } from "./repository.ts";
import { needsOf } from "./template.ts";

/** Prints a line to standard output, or to standard error with --json. */
export type Say = (line: string) => void;

export function sayer(io: Io, json: boolean): Say {
  return (line) => (json ? io.err : io.out)(`${printableText(line)}\n`);
}

export function headLine(version: string): string {
  return `┌ create-service-bot ${version}`;
}

export function choiceLine(name: string, value: string, mark = "◇"): string {
  return `${mark} ${name.padEnd(name.endsWith("?") ? 20 : 16)}${value}`;
}

/** Omits the user's answers, which are already on the screen. */
export function choiceLines(
  project: Project,
  options: Options,
  asked: ReadonlySet<Question>,
): string[] {
  const { packageManager, serviceBot } = project;
  const base = basename(project.target);
  const origin = (value: string, by: unknown) => `${value}${by === undefined ? " (default)" : ""}`;
  const install = project.install
    ? origin(`${packageManager} install`, options.packageManager ?? options.install)
    : "no (--no-install)";
  const open: readonly (readonly [Question, string, string])[] = [
    ["template", "Template", origin(project.template, options.template)],
    ["store", "Store", origin(project.store, options.store)],
    ["install", "Install", install],
    ["git", "Git", project.git ? origin("yes", options.git) : "no (--no-git)"],
  ];
  return [
    ...(project.name === base ? [] : [choiceLine("Name", `${project.name} (from "${base}")`)]),
    ...open.filter(([id]) => !asked.has(id)).map(([, name, value]) => choiceLine(name, value)),
    choiceLine("service-bot", serviceBot.tarball ? "this checkout, packed" : serviceBot.spec),
  ];
}

export function step(what: string, ms: number): string {
  return `✔ ${what.padEnd(44)} ${seconds(ms)}`;
}

function seconds(ms: number): string {
  return ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

export function nodeLine(io: Io): string {
  return (
    `✔ Node ${io.nodeVersion.replace(/^v/, "")} is older than ${OLDEST_NODE}, so node 24 is a devDependency: ` +
    "the bot's scripts run on it"
  );
}

export const repositoryLines: Readonly<Record<Repository, string>> = {
  committed: "✔ git init, first commit",
  staged: "✔ git init (no commit: git commit failed; is user.name set?)",
  inside: "✔ git: the directory is already in a repository",
  unavailable: "- git init failed; the bot works without a repository",
};

export function nextSteps(project: Project, installed: boolean, io: Io): string[] {
  const { packageManager } = project;
  const place = shorterPath(project.target, io);
  return [
    ...(place === "." ? [] : [`cd ${quote(place, io.platform)}`]),
    ...(installed
      ? []
      : [`${packageManager} ${packageManagerFacts[packageManager].installArgs[0]}`]),
    ...Object.keys(needsOf[project.store].scripts).map((name) =>
      scriptCommand(packageManager, name),
    ),
    scriptCommand(packageManager, "dev"),
    scriptCommand(packageManager, "test"),
  ];
}

const remarks = [
  [/ db$/, "PostgreSQL in Docker; or set DATABASE_URL in .env"],
  [/ dev$/, "bot + local platform, no account"],
  [/ test$/, "offline"],
] as const;

export function nextLines(steps: readonly string[]): string[] {
  return steps.map((command) => {
    const remark = remarks.find(([ending]) => ending.test(command))?.[1];
    return remark === undefined ? `  ${command}` : `  ${command.padEnd(15)} # ${remark}`;
  });
}

/** Returns the shorter of the relative and the absolute path. */
export function shorterPath(target: string, io: Io): string {
  const way = relative(io.cwd, target) || ".";
  if (way.length > target.length) return target;
  return way.startsWith("-") ? `./${way}` : way;
}

export type ExitCode = 0 | 1 | 2 | 130;

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Cancelled) return 130;
  return error instanceof UsageError ? 2 : 1;
}

/** Prints an error to standard error, and with --json also as an object to standard output. */
export function reportError(error: unknown, io: Io, json: boolean): void {
  const message = messageOf(error);
  const conflicts = error instanceof UsageError ? error.conflicts : [];
  const known = [UsageError, CreateError, Cancelled].some((kind) => error instanceof kind);
  const text = printableText(`✖ ${known ? message : `Unexpected error: ${message}`}`);
  const lines = io.rewrites.err ? text.split("\n").map(fillLine).join("\n") : text;
  io.err(`${io.rewrites.err ? lines.replace("✖", styleText("red", "✖")) : lines}\n`);
  if (json) io.out(printableText(`${JSON.stringify({ error: { message, conflicts } })}\n`));
}

/** Output of `--json`. */
export interface Result {
  /** Absolute path. */
  readonly dir: string;
  readonly name: string;
  readonly template: string;
  readonly store: string;
  readonly packageManager: string;
  readonly serviceBot: string;
  /** Relative to `dir`, sorted. With --dry-run, the files that would be written. */
  readonly files: readonly string[];
  readonly dryRun: boolean;
  readonly installed: boolean;
  readonly git: boolean;
  readonly committed: boolean;
  readonly next: readonly string[];
  /** Absent if the install succeeded. */
  readonly error?: { readonly message: string; readonly interrupted: boolean };
}

export function resultOf(project: Project, files: readonly string[]): Result {
  return {
    dir: project.target,
    name: project.name,
    template: project.template,
    store: project.store,
    packageManager: project.packageManager,
    serviceBot: project.serviceBot.spec,
    files,
    dryRun: false,
    installed: false,
    git: false,
    committed: false,
    next: [],
  };
}

export interface Timed<T> {
  readonly value: T;
  readonly ms: number;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const CLEAR_LINE = "\r\x1b[K";

/**
 * Shows the progress of long work. A terminal shows the elapsed seconds in a line that is cleared at the end. Other
 * outputs get a static line.
 */
export async function timed<T>(
  what: string,
  io: Io,
  json: boolean,
  work: () => Promise<T>,
): Promise<Timed<T>> {
  const [write, rewrites] = json ? [io.err, io.rewrites.err] : [io.out, io.rewrites.out];
  const started = io.now();
  let frame = 0;
  const show = () => {
    const seconds = Math.floor((io.now() - started) / 1000);
    write(`${CLEAR_LINE}${FRAMES[frame++ % FRAMES.length]} ${what}  ${seconds} s`);
  };
  if (rewrites) show();
  else write(`  ${what} …\n`);
  const stop = rewrites ? io.every(FRAME_MS, show) : undefined;
  try {
    return { value: await work(), ms: io.now() - started };
  } finally {
    stop?.();
    if (stop !== undefined) write(CLEAR_LINE);
  }
}

export function quote(path: string, platform: NodeJS.Platform): string {
  if (platform === "win32") return /^[\w@%+=:,./\\-]+$/.test(path) ? path : `"${path}"`;
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
