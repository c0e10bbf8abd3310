import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { LogRecord } from "./log.ts";

/** Compile cache shared by the hundreds of processes that the tests start. Deployed bots have such a cache too. */
export const COMPILE_CACHE: string = fileURLToPath(
  new URL("../../node_modules/.cache/processes-under-test", import.meta.url),
);

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child process with its output and its exit. It is killed after the test. */
export class TestProcess {
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #watchers = new Set<() => void>();

  /**
   * @param options.command program to run. Default: the Node that runs the tests
   * @param options.user user that runs the process. Only root can switch users.
   */
  constructor(
    args: readonly string[],
    options: {
      command?: string;
      cwd?: string;
      env?: Record<string, string>;
      bareEnv?: boolean;
      user?: { readonly uid: number; readonly gid: number } | undefined;
    } = {},
  ) {
    const { command = process.execPath, cwd, env = {}, bareEnv = false, user } = options;
    this.#child = spawn(command, args, {
      ...(cwd === undefined ? {} : { cwd }),
      ...user,
      env: {
        ...(bareEnv ? { PATH: process.env.PATH } : process.env),
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#collect(this.#child.stdout, this.stdout);
    this.#collect(this.#child.stderr, this.stderr);
    // "close" fires after the last line has been read.
    this.exited = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        resolve({ code, signal });
        for (const look of this.#watchers) look();
      });
    });
    onTestFinished(() => void this.#child.kill("SIGKILL"));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves to the first matching line, waiting for it if necessary. `lines` defaults to stdout. */
  async line(
    fits: (line: string) => boolean,
    lines: readonly string[] = this.stdout,
  ): Promise<string> {
    for (;;) {
      const found = lines.find(fits);
      if (found !== undefined) return found;
      if (this.hasEnded) {
        throw new Error(`the process ended without that line:\n${this.output()}`);
      }
      await this.#change();
    }
  }

  async logLine(fits: (line: LogRecord) => boolean): Promise<LogRecord> {
    return JSON.parse(await this.line((line) => line.startsWith("{") && fits(JSON.parse(line))));
  }

  message(msg: string): Promise<LogRecord> {
    return this.logLine((line) => line.msg === msg);
  }

  get logLines(): readonly LogRecord[] {
    return this.stdout.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  }

  output(): string {
    return [...this.stdout, ...this.stderr].join("\n");
  }

  #collect(stream: NodeJS.ReadableStream | null, into: string[]): void {
    if (stream === null) return;
    createInterface({ input: stream }).on("line", (line) => {
      into.push(line);
      for (const look of this.#watchers) look();
    });
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
    });
  }
}
