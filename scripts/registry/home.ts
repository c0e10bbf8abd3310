import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Surroundings } from "./program.ts";

/**
 * Creates an empty working directory and an empty home folder. The home contains only npm's registry setting and an
 * author for git. It also holds the package caches, so they are empty too.
 *
 * @param commands folders to put first on the PATH
 */
export async function emptyHome(
  folder: string,
  registryUrl: string,
  commands: readonly string[],
): Promise<Surroundings> {
  const [home, cwd] = [join(folder, "home"), join(folder, "work")];
  await Promise.all([mkdir(home), mkdir(cwd)]);
  const lines = [`registry=${registryUrl}`, "update-notifier=false", ""];
  await writeFile(join(home, ".npmrc"), lines.join("\n"));
  const author = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org" };
  const committer = { GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" };
  // Drop the folders with this checkout's commands, which `npm run` puts first.
  const system = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((each) => !each.includes("node_modules"));
  const PATH = [...commands, ...system].join(delimiter);
  return { cwd, env: { HOME: home, PATH, LANG: "C.UTF-8", ...author, ...committer } };
}
