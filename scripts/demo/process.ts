import { spawn } from "node:child_process";
import { Child, type Exit } from "../../test/support/child.ts";
import type { LogRecord } from "../../test/support/log.ts";
import { BrokenPromise } from "./report.ts";

/** Longest wait for a line, in ms. Longer than any step of the demo. */
const TIMEOUT_MS = 45_000;

export class Process extends Child {
  readonly name: string;

  constructor(name: string, args: readonly string[], cwd: string, env: Record<string, string>) {
    const stdio = ["ignore", "pipe", "pipe"] as const;
    super(
      spawn(process.execPath, args, { cwd, env: { ...process.env, ...env }, stdio: [...stdio] }),
    );
    this.name = name;
  }

  /** Waits for the first matching line of the log. A line that is already printed also counts. */
  async logs(what: string, fits: (line: LogRecord) => boolean): Promise<LogRecord> {
    return await within(
      this.logLine(fits),
      () => `${this.name} did not print: ${what}${this.lastLines()}`,
    );
  }

  override async end(signal: NodeJS.Signals): Promise<Exit> {
    return await within(
      super.end(signal),
      () => `${this.name} did not end on ${signal}${this.lastLines()}`,
    );
  }

  lastLines(): string {
    return this.tail(15)
      .map((line) => `\n    ${this.name}| ${line}`)
      .join("");
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
