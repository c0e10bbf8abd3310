import { readFileSync } from "node:fs";
import { join } from "node:path";
import { printableText } from "../core/safe-text.ts";
import type { Answers } from "./ask.ts";
import { exists, findObstacles, obstacleToAll } from "./directory.ts";
import { UsageError } from "./errors.ts";
import { type Io, processIo, tail } from "./io.ts";
import {
  help,
  isAttended,
  type Options,
  type Question,
  readOptions,
  wantsJson,
} from "./options.ts";
import { packageManagerFacts } from "./package-manager.ts";
import { type Project, packCheckout, type Source, settle } from "./project.ts";
import {
  choiceLines,
  type ExitCode,
  exitCodeOf,
  headLine,
  nextLines,
  nextSteps,
  nodeLine,
  type Result,
  reportError,
  repositoryLines,
  resultOf,
  type Say,
  sayer,
  shorterPath,
  step,
  timed,
} from "./report.ts";
import { type Repository, startRepository } from "./repository.ts";
import { type BotFile, planFiles, readTemplate, type TemplateFile } from "./template.ts";
import { tryDirectory, writeFiles } from "./write.ts";

export type { Io } from "./io.ts";
export type { Source } from "./project.ts";

/**
 * Runs `create-service-bot`. Reports every failure and never throws.
 *
 * @param argv arguments after the script
 * @returns exit code: 0 for success, 2 for wrong usage with nothing written, 130 if the user cancelled or interrupted,
 * 1 for any other failure
 */
export async function main(
  argv: readonly string[],
  origin: Omit<Source, "version">,
  io: Io = processIo(),
): Promise<ExitCode> {
  const json = wantsJson(argv);
  const print = (name: "help" | "version", text: string): ExitCode => {
    io.out(json ? `${JSON.stringify({ [name]: text })}\n` : text);
    return 0;
  };
  try {
    const request = readOptions(argv, io.env);
    if (request === "help") return print("help", help);
    const version = ownVersion(origin.root);
    if (request === "version") return print("version", json ? version : `${version}\n`);
    const result = await create(request, { ...origin, version }, io);
    if (json) io.out(printableText(`${JSON.stringify(result)}\n`));
    if (result.error === undefined) return 0;
    return result.error.interrupted ? 130 : 1;
  } catch (error) {
    reportError(error, io, json);
    return exitCodeOf(error);
  }
}

function ownVersion(root: string): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  return version;
}

interface Run {
  readonly options: Options;
  readonly asked: ReadonlySet<Question>;
  readonly project: Project;
  readonly source: Source;
  readonly io: Io;
  readonly say: Say;
}

/**
 * Creates a bot. Validates everything before it writes the first file.
 *
 * @throws {UsageError} nothing was written
 * @throws {Cancelled} nothing was written
 * @throws {CreateError}
 */
async function create(request: Options, source: Source, io: Io): Promise<Result> {
  const { options, asked, hasHead } = await chooseAll(request, source, io);
  const project = await settle(options, source, io);
  const run: Run = { options, asked, project, source, io, say: sayer(io, options.json) };
  const planned = planFiles(filesOf(project, source), project);
  const { tarball } = project.serviceBot;
  const paths = [...planned.map(({ path }) => path), ...(tarball ? [tarball] : [])].sort();
  refuseObstacles(run, paths);
  if (!hasHead) run.say(headLine(source.version));
  for (const line of choiceLines(project, options, asked)) run.say(line);
  if (options.dryRun) return dryRun(run, paths);
  await writeBot(run, planned);
  const failure = await installBot(run);
  const commits = project.git && !failure?.interrupted;
  const repository = commits ? await commitBot(run, paths) : undefined;
  return finish(run, paths, repository, failure);
}

/**
 * Prompts for missing options if a user can answer, and otherwise uses the defaults.
 *
 * @throws {UsageError} if the directory is missing or invalid
 * @throws {CreateError} if the directory is not writable
 * @throws {Cancelled}
 */
async function chooseAll(options: Options, source: Source, io: Io): Promise<Answers> {
  const { dir } = options;
  const isRefused = dir !== undefined && obstacleToAll(dir, io) !== undefined;
  const terminal = asks(options, io) && !isRefused ? io.terminal : undefined;
  if (terminal !== undefined) {
    // The prompt library is not installed in a fresh clone.
    source.prepare?.();
    io.out(`${headLine(source.version)}\n`);
    const { ask } = await import("./ask.ts");
    return await ask(options, terminal, io);
  }
  if (dir === undefined) {
    const example =
      source.origin === "checkout"
        ? "node create-bot.js ../my-bot"
        : "npm create service-bot@latest my-bot";
    throw new UsageError(`Pass a directory. Example: ${example}`);
  }
  return { options: { ...options, dir }, asked: new Set(), hasHead: false };
}

function asks(options: Options, { terminal, env }: Io): boolean {
  const { dir, template, store, install, git, yes, json } = options;
  const isOpen = [dir, template, store, install, git].includes(undefined);
  return isOpen && terminal !== undefined && !yes && !json && isAttended(env);
}

function filesOf({ template, store }: Project, { root }: Source): TemplateFile[] {
  const folders = [join(root, "templates", template), join(root, "templates", "stores", store)];
  return folders.filter(exists).flatMap(readTemplate);
}

/** Maximum number of conflicts in the message, which must fit a small terminal. `--json` lists all. */
const MAX_LISTED_CONFLICTS = 10;

function refuseObstacles({ project, io }: Run, paths: string[]): void {
  // An install would rewrite the lock file and replace node_modules.
  const touched = project.install
    ? ["node_modules", packageManagerFacts[project.packageManager].lockFile]
    : [];
  const obstacles = findObstacles(project.target, [...paths, ...touched]);
  if (obstacles.length === 0) return;
  const lines = obstacles
    .slice(0, MAX_LISTED_CONFLICTS)
    .map(({ path, reason }) => `    ${path}  (${reason})`);
  const unlisted = obstacles.length - lines.length;
  if (unlisted > 0) lines.push(`    … and ${unlisted} more`);
  throw new UsageError(
    `${shorterPath(project.target, io)} contains files that would be overwritten:\n${lines.join("\n")}\n` +
      "  Nothing was written. Choose another directory, or move the files away.",
    obstacles.map(({ path }) => path),
  );
}

function dryRun({ project, io, say }: Run, files: string[]): Result {
  say(`${files.length} files would be written to ${shorterPath(project.target, io)}:`);
  for (const path of files) say(`    ${path}`);
  say("Nothing was written (--dry-run).");
  return { ...resultOf(project, files), dryRun: true };
}

async function writeBot(run: Run, planned: readonly BotFile[]): Promise<void> {
  const { options, project, source, io, say } = run;
  const { tarball } = project.serviceBot;
  const files = [...planned];
  if (tarball !== undefined) {
    tryDirectory(project.target);
    const packing = () => packCheckout(source, io);
    const { value, ms } = await timed("packing this checkout", io, options.json, packing);
    files.push({ path: tarball, content: value });
    say(step("service-bot packed from this checkout", ms));
  }
  const started = io.now();
  writeFiles(project.target, files);
  say(step(`${files.length} files → ${shorterPath(project.target, io)}`, io.now() - started));
  say("✔ .env created (mode 600, ignored), signing secret generated");
  if (project.ownNode) say(nodeLine(io));
}

async function installBot(run: Run): Promise<InstallFailure | undefined> {
  const { options, project, io, say } = run;
  if (!project.install) return undefined;
  const command = `${project.packageManager} install`;
  const { value: failure, ms } = await timed(command, io, options.json, () => install(project, io));
  if (failure === undefined) say(step(command, ms));
  return failure;
}

async function commitBot({ project, io, say }: Run, paths: string[]): Promise<Repository> {
  const lock = packageManagerFacts[project.packageManager].lockFile;
  const hasLock = exists(join(project.target, lock));
  const committed = [...paths.filter((path) => path !== ".env"), ...(hasLock ? [lock] : [])];
  const repository = await startRepository(project.target, committed, project.template, io);
  say(repositoryLines[repository]);
  return repository;
}

function finish(
  { project, io, say }: Run,
  paths: string[],
  repository: Repository | undefined,
  failure: InstallFailure | undefined,
): Result {
  const installed = project.install && failure === undefined;
  const next = nextSteps(project, installed, io);
  const result: Result = {
    ...resultOf(project, paths),
    installed,
    git: repository === "committed" || repository === "staged",
    committed: repository === "committed",
    next,
  };
  if (failure === undefined) {
    for (const line of nextLines(next)) say(line);
    return result;
  }
  const { reason, interrupted } = failure;
  const message = `${project.packageManager} install ${interrupted ? "was interrupted" : "failed"}:`;
  const quoted = reason.replace(/^/gm, "    ");
  const remedy = nextLines(next).join("\n");
  const when = interrupted ? "To continue, run" : "Fix the problem, then run";
  const goOn = `The bot's files are written. ${when}:\n${remedy}`;
  io.err(printableText(`✖ ${message}\n${quoted}\n  ${goOn}\n`));
  return { ...result, error: { message: `${message}\n${reason}`, interrupted } };
}

interface InstallFailure {
  readonly reason: string;
  readonly interrupted: boolean;
}

async function install(project: Project, io: Io): Promise<InstallFailure | undefined> {
  const { packageManager, target } = project;
  // In CI, yarn by default refuses to create a lock file.
  const env = { ...io.env, YARN_ENABLE_IMMUTABLE_INSTALLS: "false" };
  const args = packageManagerFacts[packageManager].installArgs;
  const result = await io.run(packageManager, args, { cwd: target, env });
  const { code, missing, interrupted, output } = result;
  if (interrupted) return { reason: "Stopped by Ctrl-C.", interrupted };
  if (code === 0) return undefined;
  const absent = `${packageManager} is not installed. Install it, or choose another package manager with --pm.`;
  return { reason: missing ? absent : tail(withoutStack(output)), interrupted };
}

/** Removes npm's stack frames, which do not help the user to find the cause. */
function withoutStack(output: string): string {
  return output.replaceAll(/^npm (?:error|ERR!) +at .*\n?/gm, "");
}
