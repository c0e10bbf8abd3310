import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { Child } from "./child.ts";

/** Compile cache shared by the hundreds of processes that the tests start. Deployed bots have such a cache too. */
export const COMPILE_CACHE: string = fileURLToPath(
  new URL("../../node_modules/.cache/processes-under-test", import.meta.url),
);

export interface ProcessOptions {
  /** Program to run. Default: the Node that runs the tests */
  readonly command?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** True if the process inherits no variables except PATH. */
  readonly bareEnv?: boolean;
  /** User that runs the process. Only root can switch users. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

/** A child process that is killed after the test. */
export class TestProcess extends Child {
  constructor(args: readonly string[], options: ProcessOptions = {}) {
    const { command = process.execPath, cwd, env = {}, bareEnv = false, user } = options;
    super(
      spawn(command, args, {
        ...(cwd === undefined ? {} : { cwd }),
        ...user,
        env: {
          ...(bareEnv ? { PATH: process.env.PATH } : process.env),
          NODE_COMPILE_CACHE: COMPILE_CACHE,
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
    onTestFinished(() => this.kill("SIGKILL"));
  }
}
