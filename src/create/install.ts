import type { Io } from "./io.ts";
import { installArgs } from "./package-manager.ts";
import type { Project } from "./project.ts";
import { tail } from "./run.ts";

/** Why an install did not come to its end. */
export interface InstallFailure {
  /** What the package manager said last. */
  readonly reason: string;
  /** A person has stopped it. */
  readonly interrupted: boolean;
}

/**
 * Installs the bot's dependencies.
 *
 * @returns undefined when all went well
 */
export async function install(project: Project, io: Io): Promise<InstallFailure | undefined> {
  const { packageManager, target } = project;
  // yarn refuses to write the first lock file of a project when it believes itself in CI.
  const env = { ...io.env, YARN_ENABLE_IMMUTABLE_INSTALLS: "false" };
  const args = installArgs[packageManager];
  const result = await io.run(packageManager, args, { cwd: target, env });
  const { code, missing, interrupted, output } = result;
  if (interrupted) return { reason: "It was stopped by Ctrl-C.", interrupted };
  if (code === 0) return undefined;
  const absent = `${packageManager} is not installed here. Install it, or choose another one with --pm.`;
  return { reason: missing ? absent : tail(withoutStack(output)), interrupted };
}

/** npm shows where in its own source an error came up, which leads nobody to the cause. */
function withoutStack(output: string): string {
  return output.replaceAll(/^npm (?:error|ERR!) +at .*\n?/gm, "");
}
