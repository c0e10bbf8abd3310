import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../scripts/root.ts";
import { run, tail } from "../faces/create.ts";

/** Folder for the installed packages. Outside `test/`, because packages contain tests. */
const cache = join(root, "node_modules", ".cache", "peers");

/** In ms. Downloading a package may take five minutes on a slow connection. */
export const INSTALL_TIMEOUT_MS: number = 5 * 60_000;

/**
 * Installs the packages in a folder's package-lock.json, once for all runs. Several processes may install at the same
 * time.
 *
 * @returns the `node_modules` folder
 */
export async function installPeer(name: string): Promise<string> {
  const source = fileURLToPath(new URL(name, import.meta.url));
  const lock = await readFile(join(source, "package-lock.json"));
  const hash = createHash("sha256").update(lock).digest("hex").slice(0, 12);
  const folder = join(cache, `${name}-${hash}`);
  if (existsSync(folder)) return join(folder, "node_modules");
  await mkdir(cache, { recursive: true });
  const stage = await mkdtemp(join(cache, "installing-"));
  try {
    for (const file of ["package.json", "package-lock.json"]) {
      await copyFile(join(source, file), join(stage, file));
    }
    await install(name, stage);
    await moveTo(folder, stage);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
  return join(folder, "node_modules");
}

async function install(name: string, folder: string): Promise<void> {
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code, output } = await run("npm", args, { cwd: folder, env: process.env });
  if (code !== 0) throw new Error(`${name} cannot be installed:\n${tail(output)}`);
}

/** Renames `stage`, so that a folder with the final name is always complete. */
async function moveTo(folder: string, stage: string): Promise<void> {
  try {
    await rename(stage, folder);
  } catch (error) {
    // Another process has installed the same packages in the meantime.
    if (!existsSync(folder)) throw error;
  }
}
