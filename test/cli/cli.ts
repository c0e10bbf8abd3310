import { CLI } from "../faces/files.ts";
import { TestProcess } from "../support/process.ts";

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** User that runs the command. Only root can run it as another user. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

export function serviceBot(args: readonly string[], options: CliOptions = {}): TestProcess {
  return new TestProcess([CLI, ...args], { ...options, bareEnv: true });
}

export async function serviceBotEnds(
  args: readonly string[],
  options: CliOptions = {},
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = serviceBot(args, options);
  const { code } = await child.exited;
  return { code, out: child.stdout.join("\n"), err: child.stderr.join("\n") };
}
