import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface BotProcessOptions {
  /** The file that starts the bot. */
  readonly entry: string;
  /** All variables of the process. It reads `.env` by itself. */
  readonly env: NodeJS.ProcessEnv;
  /** Called with each line that the bot writes. */
  readonly onLine: (line: string) => void;
}

/** The bot as a process that Node starts again when one of its files changes. */
export class BotProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;

  constructor({ entry, env, onLine }: BotProcessOptions) {
    this.#child = spawn(
      process.execPath,
      ["--watch", "--watch-preserve-output", "--import", "service-bot/env", entry],
      { env, stdio: ["ignore", "pipe", "pipe"] },
    );
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on("line", onLine);
    }
    this.#exited = new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.once("error", (error) => {
        onLine(`The bot cannot be started: ${error.message}`);
        resolve();
      });
    });
  }

  /** Resolves when the process has ended by itself or through {@link stop}. */
  get exited(): Promise<void> {
    return this.#exited;
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#exited;
  }
}
