import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { LogRecord } from "./log.ts";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running process, as its parent observes it: by the lines that it prints, and by its exit. */
export class Child {
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  /** Resolves after the last line has been read, or if the program does not exist. */
  readonly exited: Promise<Exit>;
  readonly #process: ChildProcess;
  /** Lines of both streams, in order of arrival. */
  readonly #lines: string[] = [];
  readonly #watchers = new Set<() => void>();
  #isOver = false;

  constructor(running: ChildProcess) {
    this.#process = running;
    this.#collect(running.stdout, this.stdout);
    this.#collect(running.stderr, this.stderr);
    running.once("error", (error) => this.#lines.push(error.message));
    this.exited = new Promise((resolve) => {
      running.once("close", (code, signal) => {
        this.#isOver = true;
        resolve({ code, signal });
        this.#notify();
      });
    });
  }

  /** The process id, or 0 if the program does not exist. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Sends the signal, and waits until the process has ended. */
  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.kill(signal);
    return await this.exited;
  }

  /** Resolves to the first matching line, waiting for it if necessary. `lines` defaults to stdout. */
  async line(
    fits: (line: string) => boolean,
    lines: readonly string[] = this.stdout,
  ): Promise<string> {
    for (;;) {
      const found = lines.find(fits);
      if (found !== undefined) return found;
      if (this.#isOver) throw new Error(`the process ended without that line:\n${this.output()}`);
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
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
    return this.#lines.join("\n");
  }

  /** Returns the last lines of the output, for failure reports. */
  tail(lines: number): readonly string[] {
    return this.#lines.slice(-lines);
  }

  #collect(stream: NodeJS.ReadableStream | null, into: string[]): void {
    if (stream === null) return;
    createInterface({ input: stream }).on("line", (line) => {
      into.push(line);
      this.#lines.push(line);
      this.#notify();
    });
  }

  #notify(): void {
    for (const notify of this.#watchers) notify();
    this.#watchers.clear();
  }
}
