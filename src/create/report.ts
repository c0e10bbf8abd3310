import { relative } from "node:path";
import { OLDEST_NODE } from "./choices.ts";
import { CreateError, UsageError } from "./errors.ts";
import type { Io } from "./io.ts";
import type { Options } from "./options.ts";
import { installArgs, scriptCommand } from "./package-manager.ts";
import type { Project } from "./project.ts";
import type { Repository } from "./repository.ts";
import { quote } from "./shell.ts";

/** Prints one line. With --json, standard output belongs to the JSON, and people read the other one. */
export type Say = (line: string) => void;

export function sayer(io: Io, json: boolean): Say {
  return (line) => (json ? io.err : io.out)(`${line}\n`);
}

/** The choices, each with where it comes from: what was not said is a default, and shown as one. */
export function choiceLines(project: Project, options: Options, base: string): string[] {
  const chosen = (name: string, value: string, asked: unknown) =>
    `◇ ${name.padEnd(16)}${value}${asked === undefined ? " (default)" : ""}`;
  const { packageManager, serviceBot } = project;
  const installs = options.install ? `${packageManager} install` : "no (--no-install)";
  const asked = options.install ? options.packageManager : "no";
  return [
    ...(project.name === base ? [] : [`◇ ${"Name".padEnd(16)}${project.name} (from "${base}")`]),
    chosen("Template", project.template, options.template),
    chosen("Store", project.store, options.store),
    chosen("Install", installs, asked),
    chosen("Git", options.git ? "yes" : "no (--no-git)", options.git ? undefined : "no"),
    `◇ ${"service-bot".padEnd(16)}${serviceBot.tarball === undefined ? serviceBot.spec : "this checkout, packed"}`,
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
    scriptCommand(packageManager, "dev"),
    scriptCommand(packageManager, "test"),
  ];
}

const remarks = [
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

/** The exit code that goes with an error. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return error instanceof UsageError ? 2 : 1;
}

/** Tells of an error: in words on standard error, and with --json as an object as well. */
export function tellError(error: unknown, io: Io, json: boolean): void {
  const message = error instanceof Error ? error.message : String(error);
  const conflicts = error instanceof UsageError ? error.conflicts : [];
  const known = error instanceof UsageError || error instanceof CreateError;
  io.err(`✖ ${known ? message : `Could not finish: ${message}`}\n`);
  if (json) io.out(`${JSON.stringify({ error: { message, conflicts } })}\n`);
}
