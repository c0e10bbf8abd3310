import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { LogRecord } from "./log.ts";

/** Compiled code of the processes under test, as a deployment would keep it: there are hundreds of them. */
export const COMPILE_CACHE: string = fileURLToPath(
  new URL("../../node_modules/.cache/processes-under-test", import.meta.url),
);

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child process, what it writes, and how it ends. Killed when the test has finished. */
export class TestProcess {
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #watchers = new Set<() => void>();

  /**
   * @param options.command what is run; this process's Node unless it is said
   * @param options.user who runs it; only root can let somebody else
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
    // "close" comes after the last line has been read.
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

  /** The first line that fits, be it there or still to come; of standard output, unless `lines` is the other one. */
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

  /** Resolves with the first line of the log that fits, there already or still to come. */
  async logLine(fits: (line: LogRecord) => boolean): Promise<LogRecord> {
    return JSON.parse(await this.line((line) => line.startsWith("{") && fits(JSON.parse(line))));
  }

  /** The first line of the log whose `msg` is this. */
  message(msg: string): Promise<LogRecord> {
    return this.logLine((line) => line.msg === msg);
  }

  /** The lines of the log so far. */
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
