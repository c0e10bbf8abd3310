import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { exists } from "./directory.ts";
import type { Io } from "./io.ts";
import type { Template } from "./options.ts";

export type Repository =
  /** Created, with a first commit. */
  | "committed"
  /** Created, with the files staged. The commit failed because git has no configured user or a hook refused it. */
  | "staged"
  /** The directory already belongs to a repository. */
  | "inside"
  /** git is missing or failed. */
  | "unavailable";

/** In ms. git may wait for a passphrase or a hook, and the bot is complete without a repository. */
const TIMEOUT_MS = 20_000;

/**
 * Creates a repository with the bot's files in its first commit, unless the directory is already in a repository.
 * Leaves other files uncommitted. Never throws because of git.
 *
 * @param paths files to commit, relative to the target
 * @param template for the commit message
 */
export async function startRepository(
  target: string,
  paths: readonly string[],
  template: Template,
  io: Io,
): Promise<Repository> {
  if (repositoryAround(target)) return "inside";
  const git = async (...args: string[]) => {
    const env = { ...withoutGitPlaces(io.env), GIT_TERMINAL_PROMPT: "0" };
    const { code } = await io.run("git", args, { cwd: target, env, timeoutMs: TIMEOUT_MS });
    return code === 0;
  };
  if (!(await git("init", "--quiet"))) return "unavailable";
  // Uses --force because a user's global ignore file may exclude archives, and an install needs vendor/.
  if (!(await git("--literal-pathspecs", "add", "--force", "--", ...paths))) return "staged";
  // Without a configured user, git would invent one from the account and machine names.
  const identity = ["-c", "user.useConfigOnly=true"];
  const message = ["--message", `Start from the template ${template} of service-bot`];
  return (await git(...identity, "commit", "--quiet", ...message)) ? "committed" : "staged";
}

/**
 * Returns whether a directory, which need not exist, is in a repository. Checks the file system, because git refuses a
 * repository that another user owns.
 */
export function repositoryAround(directory: string): boolean {
  const parent = dirname(directory);
  if (parent === directory) return exists(join(directory, ".git"));
  if (!exists(directory)) return repositoryAround(parent);
  for (let here = realpathSync.native(directory); ; here = dirname(here)) {
    if (exists(join(here, ".git"))) return true;
    if (here === dirname(here)) return false;
  }
}

/** Removes variables that would point git at another repository, for example if a hook runs the scaffolder. */
function withoutGitPlaces(env: Io["env"]): Record<string, string | undefined> {
  const places = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|PREFIX|NAMESPACE)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !places.test(name)));
}
