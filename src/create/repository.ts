import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { exists } from "./directory.ts";
import type { Io } from "./io.ts";
import type { Template } from "./options.ts";

/** The state of the repository. */
export type Repository =
  /** Started, with a first commit. */
  | "committed"
  /** Started; the files are staged, for git knows no user to commit as, or a hook said no. */
  | "staged"
  /** The directory belongs to a repository already. */
  | "inside"
  /** There is no git here, or it failed. */
  | "unavailable";

/** In ms. git may wait for a passphrase or a hook, and the bot is complete without it. */
const TIMEOUT_MS = 20_000;

/**
 * Starts a repository with the files of the bot as its first commit, unless there is one around. Other files in the
 * directory are left for their owner to commit. Never throws because of git.
 *
 * @param paths what to commit, relative to the target
 * @param template what the files were made from
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
  // --force, because a user's own ignore file may leave out archives, and without vendor/ nothing installs.
  if (!(await git("--literal-pathspecs", "add", "--force", "--", ...paths))) return "staged";
  // Without a configured user git would make one up from the names of account and machine.
  const identity = ["-c", "user.useConfigOnly=true"];
  const message = ["--message", `Start from the template ${template} of service-bot`];
  return (await git(...identity, "commit", "--quiet", ...message)) ? "committed" : "staged";
}

/**
 * Returns whether a directory, which need not exist, is in a repository. Asks the file system, because git says no for a
 * repository of another owner.
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

/** A hook that runs the scaffolder would point git at the hook's own repository. */
function withoutGitPlaces(env: Io["env"]): Record<string, string | undefined> {
  const places = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|PREFIX|NAMESPACE)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !places.test(name)));
}
