/** How another program ended. */
export interface RunResult {
  /** The exit code; undefined when the program could not be started, or was killed. */
  readonly code: number | undefined;
  /** True when the person at the terminal stopped it with Ctrl-C. */
  readonly interrupted: boolean;
  /** True when there is no such program. */
  readonly missing: boolean;
  /** Both output streams, in the order in which they were written. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Kills the program after so many milliseconds; without it the program takes its time. */
  readonly timeoutMs?: number;
}

/** Runs a program to its end. An ordinary option, so that tests need no network and no git. */
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
  // The files of a bot are written without it, and the sooner.
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
      // Nothing may wait for an answer that nobody can see it asking for.
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
