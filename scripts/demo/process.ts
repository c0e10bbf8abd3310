import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { BrokenPromise } from "./report.ts";

/** Longest wait for a line, in ms. Longer than any step of the demo. */
const TIMEOUT_MS = 45_000;

export type Line = Readonly<Record<string, unknown>>;

interface Waiter {
  readonly fits: (line: Line) => boolean;
  readonly resolve: (line: Line) => void;
}

export class Process {
  readonly name: string;
  readonly lines: Line[] = [];
  readonly #child: ChildProcess;
  readonly #raw: string[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #exit: Promise<{ code: number | null; signal: string | null }>;

  constructor(name: string, args: readonly string[], cwd: string, env: Record<string, string>) {
    this.name = name;
    this.#child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null)
        createInterface({ input: stream }).on("line", (line) => this.#read(line));
    }
    this.#exit = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => resolve({ code, signal }));
    });
  }

  /** Waits for the first matching line. A line that is already printed also counts. */
  async line(what: string, fits: (line: Line) => boolean): Promise<Line> {
    const known = this.lines.find(fits);
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<Line>();
    const waiter = { fits, resolve };
    this.#waiters.add(waiter);
    try {
      return await within(promise, () => `${this.name} did not print: ${what}${this.tail()}`);
    } finally {
      this.#waiters.delete(waiter);
    }
  }

  async end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: string | null }> {
    this.#child.kill(signal);
    return await within(this.#exit, () => `${this.name} did not end on ${signal}${this.tail()}`);
  }

  tail(): string {
    return this.#raw
      .slice(-15)
      .map((line) => `\n    ${this.name}| ${line}`)
      .join("");
  }

  #read(text: string): void {
    this.#raw.push(text);
    if (!text.startsWith("{")) return;
    const line: Line = JSON.parse(text);
    this.lines.push(line);
    for (const { fits, resolve } of this.#waiters) if (fits(line)) resolve(line);
  }
}

export async function within<T>(
  promise: Promise<T>,
  complaint: () => string,
  timeoutMs: number = TIMEOUT_MS,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new BrokenPromise(complaint())), timeoutMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
