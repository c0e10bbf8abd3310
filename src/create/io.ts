import type { Readable, Writable } from "node:stream";
import { isatty } from "node:tty";

/** The surroundings of the scaffolder. Tests hand in their own. */
export interface Io {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The Node that the user started, which is not always the one that runs this. */
  readonly nodeVersion: string;
  /** Milliseconds, from any fixed moment. */
  now(): number;
  /** Calls `what` every `ms` milliseconds. The returned function ends that. */
  every(ms: number, what: () => void): () => void;
  out(text: string): void;
  err(text: string): void;
  /** True for a stream that can rewrite a line. */
  readonly rewrites: { readonly out: boolean; readonly err: boolean };
  /** `undefined` without a terminal. */
  readonly terminal: Terminal | undefined;
  readonly run: Run;
}

/** The user's own Node version, from create-bot.js, which may go on with a newer Node. */
const STARTED_ON = "CREATE_BOT_STARTED_ON";

/** The surroundings of this process. */
export function processIo(): Io {
  const { [STARTED_ON]: startedOn, ...env } = process.env;
  // The reader of a pipe may leave, as `head` does; the bot is made all the same.
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

/** The two ends of a terminal. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/** Returns the terminal of this process; `undefined` if one of its ends is none. A pipe is left untouched. */
function processTerminal(): Terminal | undefined {
  if (!isatty(0) || !isatty(1)) return undefined;
  const { stdin, stdout } = process;
  // A terminal of unknown size reports 0 columns, and every letter would get a line of its own.
  if (stdout.columns === 0) Object.assign(stdout, { columns: 80, rows: 24 });
  return { input: stdin, output: stdout };
}

/** The end of another program. */
export interface RunResult {
  /** The exit code; `undefined` if the program could not be started, or was killed. */
  readonly code: number | undefined;
  /** True if the user stopped it with Ctrl-C. */
  readonly interrupted: boolean;
  /** True if there is no such program. */
  readonly missing: boolean;
  /** Both output streams, in the order in which they were written. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Kills the program after so many milliseconds; without a limit by default. */
  readonly timeoutMs?: number;
}

/** Runs a program to its end. */
export type Run = (
  command: string,
  args: readonly string[],
  options: RunOptions,
) => Promise<RunResult>;

/**
 * Runs a program and keeps its output; it never rejects.
 * On Windows, npm and its siblings are batch files, which only a shell starts: their arguments must
 * be constants without blanks.
 */
export const run: Run = async (command, args, { cwd, env, timeoutMs }) => {
  // Loaded late: the files of a bot are written without it.
  const { spawn } = await import("node:child_process");
  return await new Promise((resolve) => {
    // A terminal signals both processes; a signal to this one alone is passed on.
    let interrupted = false;
    const onInterrupt = () => {
      interrupted = true;
      child.kill("SIGINT");
    };
    // Before the start, because Ctrl-C may come as soon as the program runs.
    process.once("SIGINT", onInterrupt);
    const batch = process.platform === "win32" && /^(?:npm|npx|pnpm|yarn|bun)$/.test(command);
    const child = spawn(
      batch ? [command, ...args].join(" ") : command,
      batch ? [] : [...args],
      // Without standard input no program can wait for an answer to a hidden question.
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

/** The last lines of an output, for a message that explains a failure. */
export function tail(output: string, lines = 20): string {
  return output.trimEnd().split(/\r?\n/).slice(-lines).join("\n");
}
