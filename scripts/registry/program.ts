import { spawn } from "node:child_process";
import { Child } from "../../test/support/child.ts";

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
export class Program extends Child {
  readonly ended: Promise<Ended>;

  constructor(command: string, args: readonly string[], { cwd, env }: Surroundings) {
    super(spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] }));
    running.add(this);
    // The streams close when the last process in the group has ended.
    this.ended = this.exited.then(({ code }) => {
      running.delete(this);
      const started = code !== null && this.pid > 0;
      return {
        code: started ? code : undefined,
        stdout: this.stdout.join("\n"),
        output: this.output(),
      };
    });
  }

  get isRunning(): boolean {
    return running.has(this);
  }

  override kill(signal: NodeJS.Signals): void {
    if (this.pid === 0) return;
    try {
      process.kill(-this.pid, signal);
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
  const timer = setTimeout(() => program.kill("SIGKILL"), timeoutMs);
  try {
    return await program.ended;
  } finally {
    clearTimeout(timer);
  }
}

export function killAll(): void {
  for (const program of running) program.kill("SIGKILL");
}
