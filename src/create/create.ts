import { basename, join, resolve } from "node:path";
import { packCheckout, type Source } from "./dependency.ts";
import { UsageError } from "./errors.ts";
import { install } from "./install.ts";
import type { Io } from "./io.ts";
import { findObstacles } from "./obstacles.ts";
import type { Options } from "./options.ts";
import { lockFile } from "./package-manager.ts";
import { exists } from "./paths.ts";
import { planFiles } from "./plan.ts";
import { type Project, settle } from "./project.ts";
import {
  choiceLines,
  nextLines,
  nextSteps,
  nodeLine,
  placeOf,
  repositoryLines,
  type Say,
  sayer,
  step,
} from "./report.ts";
import { type Repository, startRepository } from "./repository.ts";
import { type Result, resultOf } from "./result.ts";
import { newSecrets } from "./secrets.ts";
import { type BotFile, readTemplate } from "./template.ts";
import { writeFiles } from "./write.ts";

/** One run, for the functions below. */
interface Run {
  readonly options: Options;
  readonly project: Project;
  readonly source: Source;
  readonly io: Io;
  readonly say: Say;
}

/**
 * Makes a bot. Everything that can be refused is refused before the first file is written.
 *
 * @throws {UsageError} nothing was written
 * @throws {CreateError}
 */
export async function create(options: Options, source: Source, io: Io): Promise<Result> {
  const target = resolve(io.cwd, options.dir);
  const project = settle(options, target, source, io);
  const run: Run = { options, project, source, io, say: sayer(io, options.json) };
  const template = await readTemplate(join(source.root, "templates", project.template));
  const planned = planFiles(template, project, newSecrets());
  const { tarball } = project.serviceBot;
  const paths = [...planned.map(({ path }) => path), ...(tarball ? [tarball] : [])].sort();
  await refuseObstacles(run, paths);
  run.say(`┌ create-service-bot ${source.version}`);
  for (const line of choiceLines(project, options, basename(target))) run.say(line);
  if (options.dryRun) return dryRun(run, paths);
  await writeBot(run, planned);
  const failure = await installBot(run);
  const repository = options.git ? await commitBot(run, paths) : undefined;
  return finish(run, paths, repository, failure);
}

async function refuseObstacles({ options, project, io }: Run, paths: string[]): Promise<void> {
  // An install would rewrite the one and empty the other.
  const touched = options.install ? ["node_modules", lockFile[project.packageManager]] : [];
  const obstacles = await findObstacles(project.target, [...paths, ...touched]);
  if (obstacles.length === 0) return;
  const lines = obstacles.map(({ path, reason }) => `    ${path}  (${reason})`);
  throw new UsageError(
    `These stand in the way in ${placeOf(project.target, io)}:\n${lines.join("\n")}\n` +
      "  Nothing was written. Choose another directory, or move these away first.",
    obstacles.map(({ path }) => path),
  );
}

function dryRun({ project, io, say }: Run, files: string[]): Result {
  say(`${files.length} files would be written to ${placeOf(project.target, io)}:`);
  for (const path of files) say(`    ${path}`);
  say("Nothing was written (--dry-run).");
  return { ...resultOf(project, files), dryRun: true };
}

async function writeBot({ project, source, io, say }: Run, planned: BotFile[]): Promise<void> {
  const { tarball } = project.serviceBot;
  const files = [...planned];
  if (tarball !== undefined) {
    const started = io.now();
    files.push({ path: tarball, content: await packCheckout(source, io) });
    say(step("service-bot packed from this checkout", io.now() - started));
  }
  const started = io.now();
  await writeFiles(project.target, files);
  say(step(`${files.length} files → ${placeOf(project.target, io)}`, io.now() - started));
  say("✔ .env created (mode 600, ignored), signing secret generated");
  if (project.ownNode) say(nodeLine(io));
}

/** @returns why it failed, when it did */
async function installBot({ options, project, io, say }: Run): Promise<string | undefined> {
  if (!options.install) return undefined;
  const command = `${project.packageManager} install`;
  say(`  ${command} …`);
  const started = io.now();
  const failure = await install(project, io);
  if (failure === undefined) say(step(command, io.now() - started));
  return failure;
}

async function commitBot({ project, io, say }: Run, paths: string[]): Promise<Repository> {
  const lock = lockFile[project.packageManager];
  const hasLock = await exists(join(project.target, lock));
  const committed = [...paths.filter((path) => path !== ".env"), ...(hasLock ? [lock] : [])];
  const repository = await startRepository(project.target, committed, io);
  say(repositoryLines[repository]);
  return repository;
}

function finish(
  { options, project, io, say }: Run,
  paths: string[],
  repository: Repository | undefined,
  failure: string | undefined,
): Result {
  const installed = options.install && failure === undefined;
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
  const message = `${project.packageManager} install failed:`;
  const quoted = failure.replace(/^/gm, "    ");
  const remedy = nextLines(next).join("\n");
  io.err(
    `✖ ${message}\n${quoted}\n  The files are in place. When that is solved, run:\n${remedy}\n`,
  );
  return { ...result, error: { message: `${message}\n${failure}` } };
}
