import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { exists } from "./directory.ts";
import type { Io } from "./io.ts";
import type { Template } from "./options.ts";

export type Repository =
  | "committed"
  /** Created, with the files staged. The commit failed, because git has no configured user or a hook rejected it. */
  | "staged"
  | "inside"
  | "unavailable";

/** Time limit for git, in ms, because it may wait for a passphrase or a hook. The bot works without a repository. */
const TIMEOUT_MS = 20_000;

/**
 * Creates a repository with a first commit of the bot's files, unless the directory is already in a repository. Leaves
 * other files uncommitted. Never throws if git fails.
 *
 * @param paths files to commit, relative to the target
 * @param template named in the commit message
 */
export async function startRepository(
  target: string,
  paths: readonly string[],
  template: Template,
  io: Io,
): Promise<Repository> {
  if (repositoryAround(target)) return "inside";
  const git = async (args: readonly string[]) => {
    const env = { ...withoutGitPlaces(io.env), GIT_TERMINAL_PROMPT: "0" };
    const { code } = await io.run("git", args, { cwd: target, env, timeoutMs: TIMEOUT_MS });
    return code === 0;
  };
  if (!(await git(["init", "--quiet"]))) return "unavailable";
  // `--force` adds vendor/ even if the user's global ignore file excludes archives. An install needs it.
  if (!(await git(["--literal-pathspecs", "add", "--force", "--", ...paths]))) return "staged";
  // Without a configured user, git would invent one from the names of the account and the machine.
  const identity = ["-c", "user.useConfigOnly=true"];
  const message = ["--message", `Start from service-bot's ${template} template`];
  return (await git([...identity, "commit", "--quiet", ...message])) ? "committed" : "staged";
}

/**
 * Returns true if a directory, which need not exist, is in a repository. Checks the file system, because git rejects a
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

/** Removes variables that point git to another repository, for example if a git hook runs the scaffolder. */
function withoutGitPlaces(env: Io["env"]): Record<string, string | undefined> {
  const places = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|PREFIX|NAMESPACE)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !places.test(name)));
}
