import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { run } from "../../faces/create.ts";
import { NEXT_POSTGRES_STEP, NEXT_SQLITE_STEP, nextStepName } from "../../support/next-schema.ts";
import { withoutBotVariables } from "../../support/scaffolded.ts";
import { docker } from "../support/given.ts";

const NAMING = ["package.json", "package-lock.json"];

/** A version of service-bot, stored as the contents of the files that name it. */
export type Version = ReadonlyMap<string, string>;

/**
 * Packs two versions of service-bot next to the project. Returns the older version first. By default, these are this
 * checkout and a version that extends both schemas; with `SERVICE_BOT_BEFORE`, they are the package at that path and
 * this checkout.
 */
export async function twoVersions(project: string): Promise<readonly [Version, Version]> {
  const vendor = join(project, "vendor");
  const [packed] = readdirSync(vendor);
  if (packed === undefined) throw new Error(`there is no service-bot package in ${vendor}`);
  const present = join(vendor, packed);
  const given = process.env["SERVICE_BOT_BEFORE"];
  if (given === undefined) {
    const before = readVersion(project);
    const after = await installVersion(project, packNext(present, vendor));
    return [before, after];
  }
  const after = readVersion(project);
  const before = join(vendor, `before-${basename(given)}`);
  copyFileSync(given, before);
  return [await installVersion(project, before), after];
}

export function useVersion(project: string, version: Version): void {
  for (const [name, text] of version) writeFileSync(join(project, name), text);
}

export function packageOf(version: Version): string {
  return hashOf(version.get("package-lock.json") ?? "");
}

export async function packageIn(container: string): Promise<string> {
  return hashOf(await docker.run("exec", container, "cat", "node_modules/.package-lock.json"));
}

function hashOf(lockfile: string): string {
  return JSON.parse(lockfile).packages["node_modules/service-bot"].integrity;
}

function readVersion(project: string): Version {
  return new Map(NAMING.map((name) => [name, readFileSync(join(project, name), "utf8")]));
}

async function installVersion(project: string, tarball: string): Promise<Version> {
  const flags = ["--package-lock-only", "--no-audit", "--no-fund"];
  const { code, output } = await run("npm", ["install", tarball, ...flags], {
    cwd: project,
    env: withoutBotVariables(),
  });
  if (code !== 0) throw new Error(`npm install exited with ${code}:\n${output}`);
  return readVersion(project);
}

/** Adds one more migration per schema. Returns the package's path. */
function packNext(present: string, folder: string): string {
  const work = join(folder, "next");
  mkdirSync(work);
  execFileSync("tar", ["xzf", present, "-C", work]);
  const manifest = join(work, "package/package.json");
  const { version, ...rest } = JSON.parse(readFileSync(manifest, "utf8"));
  writeFileSync(manifest, JSON.stringify({ ...rest, version: `${version}-next` }));
  const steps = (store: string) => join(work, "package/dist/inbox", store, "sql");
  addStep(steps("postgres"), `-- readable from: 1\n${NEXT_POSTGRES_STEP}`);
  addStep(steps("sqlite"), NEXT_SQLITE_STEP);
  const packed = join(folder, "service-bot-next.tgz");
  execFileSync("tar", ["czf", packed, "-C", work, "package"]);
  rmSync(work, { recursive: true });
  return packed;
}

function addStep(folder: string, sql: string): void {
  writeFileSync(join(folder, nextStepName(readdirSync(folder).length)), sql);
}
