import { basename, relative } from "node:path";
import { type Asked, OLDEST_NODE } from "./choices.ts";
import { Cancelled, CreateError, messageOf, UsageError } from "./errors.ts";
import type { Io } from "./io.ts";
import type { Options } from "./options.ts";
import { installArgs, scriptCommand } from "./package-manager.ts";
import { printableText } from "./printable.ts";
import type { Project } from "./project.ts";
import type { Repository } from "./repository.ts";
import { quote } from "./shell.ts";
import { needsOf } from "./store.ts";

/** Prints one line. With --json, standard output belongs to the JSON, and people read the other one. */
export type Say = (line: string) => void;

export function sayer(io: Io, json: boolean): Say {
  return (line) => (json ? io.err : io.out)(`${printableText(line)}\n`);
}

export function headLine(version: string): string {
  return `┌ create-service-bot ${version}`;
}

/** A choice that is settled: what was asked, and what came of it. */
export function choiceLine(name: string, value: string, mark = "◇"): string {
  return `${mark} ${name.padEnd(name.endsWith("?") ? 20 : 16)}${value}`;
}

/**
 * The choices, each with where it comes from: what was not said is a default, and shown as one. What a
 * person was asked for stands above these already.
 */
export function choiceLines(
  project: Project,
  options: Options,
  asked: ReadonlySet<Asked>,
): string[] {
  const { packageManager, serviceBot } = project;
  const base = basename(project.target);
  const said = (value: string, by: unknown) => `${value}${by === undefined ? " (default)" : ""}`;
  const install = project.install
    ? said(`${packageManager} install`, options.packageManager ?? options.install)
    : "no (--no-install)";
  const open: readonly (readonly [Asked, string, string])[] = [
    ["template", "Template", said(project.template, options.template)],
    ["store", "Store", said(project.store, options.store)],
    ["install", "Install", install],
    ["git", "Git", project.git ? said("yes", options.git) : "no (--no-git)"],
  ];
  return [
    ...(project.name === base ? [] : [choiceLine("Name", `${project.name} (from "${base}")`)]),
    ...open.filter(([id]) => !asked.has(id)).map(([, name, value]) => choiceLine(name, value)),
    choiceLine("service-bot", serviceBot.tarball ? "this checkout, packed" : serviceBot.spec),
  ];
}

/** A finished step, with the time that it took. */
export function step(what: string, ms: number): string {
  return `✔ ${what.padEnd(44)} ${seconds(ms)}`;
}

function seconds(ms: number): string {
  return ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

export function nodeLine(io: Io): string {
  return (
    `✔ Node ${io.nodeVersion.replace(/^v/, "")} is older than ${OLDEST_NODE}, which bots need: ` +
    "node 24 is a devDependency, so the scripts run on it"
  );
}

export const repositoryLines: Readonly<Record<Repository, string>> = {
  committed: "✔ git init, first commit",
  staged:
    "✔ git init (nothing committed yet: git would not commit, perhaps for want of a user.name)",
  inside: "✔ git: the directory belongs to a repository already, so no other was started",
  unavailable: "- git init did not work here; the bot does not need it",
};

/** What to type next, in order. */
export function nextSteps(project: Project, installed: boolean, io: Io): string[] {
  const { packageManager } = project;
  const place = placeOf(project.target, io);
  return [
    ...(place === "." ? [] : [`cd ${quote(place, io.platform)}`]),
    ...(installed ? [] : [`${packageManager} ${installArgs[packageManager][0]}`]),
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

/** The next steps as printed: what runs the bot has a remark beside it. */
export function nextLines(steps: readonly string[]): string[] {
  return steps.map((command) => {
    const remark = remarks.find(([ending]) => ending.test(command))?.[1];
    return remark === undefined ? `  ${command}` : `  ${command.padEnd(15)} # ${remark}`;
  });
}

/** The target as a person would write it: from the current directory, unless that is the longer way. */
export function placeOf(target: string, io: Io): string {
  const way = relative(io.cwd, target) || ".";
  if (way.length > target.length) return target;
  return way.startsWith("-") ? `./${way}` : way;
}

export type ExitCode = 0 | 1 | 2 | 130;

/** The exit code that goes with an error. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Cancelled) return 130;
  return error instanceof UsageError ? 2 : 1;
}

/** Tells of an error: in words on standard error, and with --json as an object as well. */
export function tellError(error: unknown, io: Io, json: boolean): void {
  const message = messageOf(error);
  const conflicts = error instanceof UsageError ? error.conflicts : [];
  const known = [UsageError, CreateError, Cancelled].some((kind) => error instanceof kind);
  io.err(printableText(`✖ ${known ? message : `Could not finish: ${message}`}\n`));
  if (json) io.out(printableText(`${JSON.stringify({ error: { message, conflicts } })}\n`));
}
