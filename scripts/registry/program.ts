import { type ChildProcess, spawn } from "node:child_process";

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Ended {
  /** `undefined` if the program could not be started, or if a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  /** Both streams, in order of arrival. */
  readonly output: string;
}

/** Running programs, so that none is left behind. */
const running = new Set<Program>();

/** A command in its own process group, which receives signals as if from a terminal. */
export class Program {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #stdout = "";
  #output = "";

  constructor(command: string, args: readonly string[], { cwd, env }: Surroundings) {
    this.#child = spawn(command, args, {
      cwd,
      env: { ...env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stdout += chunk;
      this.#output += chunk;
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#output += chunk;
    });
    running.add(this);
    this.ended = new Promise((resolve) => {
      const end = (code: number | undefined) => {
        running.delete(this);
        resolve({ code, stdout: this.#stdout, output: this.#output });
      };
      this.#child.once("error", (error) => {
        this.#output += error.message;
        end(undefined);
      });
      // The streams close when the last process in the group has ended.
      this.#child.once("close", (code) => end(code ?? undefined));
    });
  }

  get isRunning(): boolean {
    return running.has(this);
  }

  get output(): string {
    return this.#output;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // The process group has already ended.
    }
  }
}

/**
 * Runs a command.
 *
 * @throws {Error} if the command takes longer than `timeoutMs`
 */
export async function complete(
  command: string,
  args: readonly string[],
  surroundings: Surroundings,
  timeoutMs: number,
): Promise<Ended> {
  const program = new Program(command, args, surroundings);
  const timer = setTimeout(() => program.signal("SIGKILL"), timeoutMs);
  try {
    return await program.ended;
  } finally {
    clearTimeout(timer);
  }
}

export function killAll(): void {
  for (const program of running) program.signal("SIGKILL");
}
