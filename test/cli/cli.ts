import { fileURLToPath } from "node:url";
import { TestProcess } from "../support/process.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** The user that runs it. Another user needs root. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Runs `service-bot` as a process. The environment holds nothing but what is given. */
export function serviceBot(args: readonly string[], options: CliOptions = {}): TestProcess {
  return new TestProcess([MAIN, ...args], { ...options, bareEnv: true });
}

/** Runs it to its end. */
export async function serviceBotEnds(
  args: readonly string[],
  options: CliOptions = {},
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = serviceBot(args, options);
  const { code } = await child.exited;
  return { code, out: child.stdout.join("\n"), err: child.stderr.join("\n") };
}
