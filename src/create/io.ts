import type { Readable, Writable } from "node:stream";
import { isatty } from "node:tty";

/** The scaffolder's environment, which tests replace. */
export interface Io {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The Node version that the user started. The running version may be newer. */
  readonly nodeVersion: string;
  /** Returns a monotonic time in ms. */
  now(): number;
  /** Calls `what` every `ms` milliseconds. Returns a function that stops the calls. */
  every(ms: number, what: () => void): () => void;
  out(text: string): void;
  err(text: string): void;
  /** True for a stream whose current line can be rewritten. */
  readonly rewrites: { readonly out: boolean; readonly err: boolean };
  /** Absent if input or output is not a terminal. */
  readonly terminal: Terminal | undefined;
  readonly run: Run;
}

/** Variable with the user's Node version. create-bot.js sets it before it switches to a newer Node. */
const STARTED_ON = "CREATE_BOT_STARTED_ON";

export function processIo(): Io {
  const { [STARTED_ON]: startedOn, ...env } = process.env;
  // The reader of a pipe may close it, as `head` does. The bot is still created.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return {
    cwd: process.cwd(),
    env,
    platform: process.platform,
    nodeVersion: startedOn ?? process.versions.node,
    now: () => performance.now(),
    every: (ms, what) => {
      const timer = setInterval(what, ms);
      return () => clearInterval(timer);
    },
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    rewrites: { out: canRewrite(process.stdout), err: canRewrite(process.stderr) },
    terminal: processTerminal(),
    run,
  };
}

function canRewrite({ isTTY }: NodeJS.WriteStream): boolean {
  return isTTY === true && process.env["TERM"] !== "dumb";
}

export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

function processTerminal(): Terminal | undefined {
  if (!isatty(0) || !isatty(1)) return undefined;
  const { stdin, stdout } = process;
  // A terminal of unknown size reports 0 columns, and text would wrap after every letter.
  if (stdout.columns === 0) Object.assign(stdout, { columns: 80, rows: 24 });
  return { input: stdin, output: stdout };
}

export interface RunResult {
  /** `undefined` if the program was killed or could not be started. */
  readonly code: number | undefined;
  readonly interrupted: boolean;
  readonly missing: boolean;
  /** Standard output and standard error, interleaved. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time limit in ms. Default: none. */
  readonly timeoutMs?: number;
}

export type Run = (
  command: string,
  args: readonly string[],
  options: RunOptions,
) => Promise<RunResult>;

/**
 * Runs a program and captures its output. Never rejects. On Windows, package managers are batch files, which need a
 * shell. Their arguments must be constants without spaces.
 */
export const run: Run = async (command, args, { cwd, env, timeoutMs }) => {
  // Imported on demand, because only some runs start a program.
  const { spawn } = await import("node:child_process");
  return await new Promise((resolve) => {
    // A terminal signals both processes. A signal sent only to this process is forwarded.
    let interrupted = false;
    const onInterrupt = () => {
      interrupted = true;
      child.kill("SIGINT");
    };
    // Registered first, because Ctrl-C may arrive as soon as the program runs.
    process.once("SIGINT", onInterrupt);
    const batch = process.platform === "win32" && /^(?:npm|npx|pnpm|yarn|bun)$/.test(command);
    const child = spawn(
      batch ? [command, ...args].join(" ") : command,
      batch ? [] : [...args],
      // Without standard input, a program cannot wait for the answer to a hidden prompt.
      { cwd, env: { ...env }, shell: batch, timeout: timeoutMs, stdio: ["ignore", "pipe", "pipe"] },
    );
    const end = (result: Omit<RunResult, "interrupted">) => {
      process.off("SIGINT", onInterrupt);
      resolve({ ...result, interrupted });
    };
    let output = "";
    const keep = (chunk: string) => {
      output += chunk;
    };
    child.stdout?.setEncoding("utf8").on("data", keep);
    child.stderr?.setEncoding("utf8").on("data", keep);
    child.on("error", (error: NodeJS.ErrnoException) => {
      const missing = error.code === "ENOENT";
      end({ code: undefined, missing, output: output + error.message });
    });
    child.on("close", (code) => end({ code: code ?? undefined, missing: false, output }));
  });
};

export function tail(output: string, lines = 20): string {
  return output.trimEnd().split(/\r?\n/).slice(-lines).join("\n");
}
