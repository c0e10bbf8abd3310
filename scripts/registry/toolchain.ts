import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run, tail } from "../../src/create/io.ts";
import { root } from "../root.ts";

/**
 * Versions for the checks: the current release of each Node line, but the oldest supported release of the oldest line.
 * `node20` is the oldest Node that runs the scaffolder. npm is the bundled version or newer.
 */
export const nodes = {
  node20: { node: "20.12.0", npm: "10.9.3" },
  node22: { node: "22.18.0", npm: "10.9.3" },
  node24: { node: "24.21.0", npm: "11.19.1" },
  node26: { node: "26.10.0", npm: "12.2.0" },
} as const;

const PNPM = "12.21.0";

export type NodeName = keyof typeof nodes;

export async function commandsOf(
  name: NodeName,
  packageManager: "npm" | "pnpm",
): Promise<readonly string[]> {
  const { node, npm } = nodes[name];
  const folders = [await installed("node", node), await installed("npm", npm)];
  if (packageManager === "pnpm") folders.push(await installed("pnpm", PNPM));
  return folders;
}

/**
 * Installs a package once for all runs.
 *
 * @returns the folder with its commands
 */
async function installed(name: string, version: string): Promise<string> {
  const cache = join(root, "node_modules", ".cache", "release-check");
  const folder = join(cache, `${name}-${version}`);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const stage = await mkdtemp(join(cache, "installing-"));
    try {
      await install(stage, `${name}@${version}`);
      await rename(stage, folder);
    } finally {
      await rm(stage, { recursive: true, force: true });
    }
  }
  return join(folder, "node_modules", ".bin");
}

async function install(folder: string, spec: string): Promise<void> {
  // The `node` package downloads its binary in an install script.
  const manifest = { private: true, allowScripts: { node: true } };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  const args = ["install", spec, "--no-audit", "--no-fund", "--loglevel=error"];
  const { code, output } = await run("npm", args, { cwd: folder, env: process.env });
  if (code !== 0) throw new Error(`${spec} cannot be installed:\n${tail(output)}`);
}
