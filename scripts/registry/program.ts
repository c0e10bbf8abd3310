import { type ChildProcess, spawn } from "node:child_process";

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How a program ended, and all that it wrote. */
export interface Ended {
  /** Undefined when a signal ended it, or it could not be started. */
  readonly code: number | undefined;
  readonly stdout: string;
  /** Both streams, in the order in which they came. */
  readonly output: string;
}

/** Those that run now, so that none is left behind. */
const running = new Set<Program>();

/** A command and all that it starts: a process group, which gets signals as from a terminal. */
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
      // The streams are closed when the last process of the group has let go of them.
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
      // Nobody is left in the group.
    }
  }
}

/** Runs a command to its end, which it must reach in `patienceMs`. */
export async function complete(
  command: string,
  args: readonly string[],
  surroundings: Surroundings,
  patienceMs: number,
): Promise<Ended> {
  const program = new Program(command, args, surroundings);
  const timer = setTimeout(() => program.signal("SIGKILL"), patienceMs);
  try {
    return await program.ended;
  } finally {
    clearTimeout(timer);
  }
}

/** Ends whatever runs, for a process that is told to stop. */
export function killAll(): void {
  for (const program of running) program.signal("SIGKILL");
}
