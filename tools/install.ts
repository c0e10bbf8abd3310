import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { root } from "../scripts/root.ts";
import { run, tail } from "../src/create/io.ts";

const folder = join(root, "tools");
const modules = join(folder, "node_modules");

/** Contains the hash of the installed lockfile. Absent while packages are installed. */
const marker = join(modules, ".installed");

/** In ms. Downloading the packages takes a minute, or several on a slow connection. */
export const INSTALL_TIMEOUT_MS: number = 10 * 60_000;

/**
 * Installs the packages in tools/package-lock.json, unless they are installed. Several processes may call this function
 * at the same time, and one of them installs.
 *
 * @returns the `node_modules` folder
 */
export async function installTools(): Promise<string> {
  if (!isInstalled()) await runAlone(install);
  return modules;
}

/** Installs the tools as a folder's `node_modules` too, where the folder's programs look for packages. */
export async function linkTools(to: string): Promise<void> {
  await installTools();
  const link = join(to, "node_modules");
  if (realPath(link) === realPath(modules)) return;
  rmSync(link, { recursive: true, force: true });
  symlinkSync(relative(to, modules), link, "junction");
}

/** Returns the pinned version of a package. */
export function toolVersion(name: string): string {
  const version = toolVersions()[name];
  if (version === undefined) throw new Error(`${name} is not in tools/package.json`);
  return version;
}

/** Returns the pinned version of each package, by name. */
export function toolVersions(): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies;
}

function isInstalled(): boolean {
  try {
    return readFileSync(marker, "utf8") === lockHash();
  } catch {
    return false;
  }
}

async function install(): Promise<void> {
  if (isInstalled()) return;
  console.log("Installing tools/package-lock.json");
  rmSync(marker, { force: true });
  const hash = lockHash();
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code, output } = await run("npm", args, { cwd: folder, env: process.env });
  if (code !== 0) throw new Error(`tools/package-lock.json cannot be installed:\n${tail(output)}`);
  writeFileSync(marker, hash);
}

function lockHash(): string {
  return createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
}

/** Waits until no other process runs its task. SQLite's lock ends with its process, even a killed one. */
async function runAlone(task: () => Promise<void>): Promise<void> {
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const lock = new Database(join(cache, "tools.lock"), { timeout: 0 });
  try {
    while (!acquire(lock)) await sleep(200);
    await task();
  } finally {
    lock.close();
  }
}

function acquire(lock: Database.Database): boolean {
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY")) return false;
    throw error;
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
