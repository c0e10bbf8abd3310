import type { Io } from "./io.ts";
import { installArgs } from "./package-manager.ts";
import type { Project } from "./project.ts";
import { tail } from "./run.ts";

/**
 * Installs the bot's dependencies.
 *
 * @returns undefined when all went well, otherwise what the package manager said last
 */
export async function install(project: Project, io: Io): Promise<string | undefined> {
  const { packageManager, target } = project;
  // yarn refuses to write the first lock file of a project when it believes itself in CI.
  const env = { ...io.env, YARN_ENABLE_IMMUTABLE_INSTALLS: "false" };
  const args = installArgs[packageManager];
  const { code, missing, output } = await io.run(packageManager, args, { cwd: target, env });
  if (code === 0) return undefined;
  return missing ? `${packageManager} is not installed here.` : tail(output);
}
