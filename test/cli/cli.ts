import { expect } from "vitest";
import { CLI } from "../faces/files.ts";
import { TestProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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

/**
 * Checks that an uncaught error ends a command with 1, and is printed without secrets.
 *
 * @param ready text that the command prints once it runs
 */
export async function checkUncaughtError(args: readonly string[], ready: string): Promise<void> {
  const key = "key-canary-5e1f8a62";
  const fails = "process.on('SIGUSR2',()=>{throw%20new%20Error(process.env.SERVICE_API_KEY)})";
  const env = {
    SERVICE_BASE_URL: "http://127.0.0.1:9",
    SERVICE_API_KEY: key,
    NODE_OPTIONS: `--import data:text/javascript,${fails}`,
  };
  const child = serviceBot(args, { cwd: temporaryFolder(), env });
  await child.line((line) => line.includes(ready));
  child.kill("SIGUSR2");
  expect(await child.exited).toEqual({ code: 1, signal: null });
  expect(child.stderr.join("\n")).toMatch(/Error: \[redacted\]\n +at /);
  expect(child.stderr.join("\n")).not.toContain(key);
}
