import { ServiceBotError } from "../errors.ts";
import { MAX_TIMER_MS } from "./clock.ts";

/** The oldest Node that strips types by default and loads the SQLite binding without a crash. */
export const OLDEST_NODE = "22.18.0";

/**
 * Throws if Node is too old. Must run before any native module is loaded, because the SQLite binding crashes Node 20
 * without a message.
 *
 * @throws {ServiceBotError} NODE_TOO_OLD
 */
export function requireNode(version: string = process.versions.node): void {
  if (isAtLeast(version, OLDEST_NODE)) return;
  throw new ServiceBotError(
    "NODE_TOO_OLD",
    `service-bot needs Node ${OLDEST_NODE} or newer (this is ${version}). ` +
      "Install a newer Node, or keep this one and run: npm install --save-dev node@24 " +
      "(npm scripts then use that Node).",
  );
}

function isAtLeast(version: string, oldest: string): boolean {
  const actual = version.split(".").map(Number);
  for (const [index, wanted] of oldest.split(".").map(Number).entries()) {
    const part = actual[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}

/** The part of `process` that bots use, replaceable in tests. */
export interface ProcessLike {
  on(event: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
}

/** Keeps the process alive until `work` settles, because database connections alone do not. */
export function untilEnded<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, MAX_TIMER_MS);
  return work.finally(() => clearInterval(timer));
}

const signals: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"];

/**
 * Bots that share a process. A signal stops every bot, and the process exits after the last bot has stopped, so that no
 * bot interrupts another bot's handlers. A second signal exits at once with code 1.
 */
export class ProcessOwners {
  readonly #process: ProcessLike;
  readonly #stops = new Set<() => Promise<void>>();
  #exitCode = 0;
  #ending: Promise<void> | undefined;
  #isSignalled = false;

  constructor(process: ProcessLike) {
    this.#process = process;
  }

  /** @param stop stops the bot, and is called at most once */
  add(stop: () => Promise<void>): void {
    if (this.#stops.size === 0) {
      for (const signal of signals) this.#process.on(signal, () => this.#onSignal());
    }
    this.#stops.add(stop);
  }

  /** Stops every bot, then exits with the highest exit code requested. A bot that fails to stop counts as code 1. */
  end(exitCode: number): Promise<void> {
    this.#exitCode = Math.max(this.#exitCode, exitCode);
    this.#ending ??= this.#stopAll();
    return this.#ending;
  }

  #onSignal(): void {
    if (this.#isSignalled) {
      this.#process.exit(1);
      return;
    }
    this.#isSignalled = true;
    void this.end(0);
  }

  async #stopAll(): Promise<void> {
    for (let stopped = 0; stopped < this.#stops.size; ) {
      // The next round stops any bot that was added meanwhile.
      const stops = [...this.#stops].slice(stopped);
      stopped += stops.length;
      await Promise.all(stops.map((stop) => this.#stop(stop)));
    }
    this.#process.exit(this.#exitCode);
  }

  async #stop(stop: () => Promise<void>): Promise<void> {
    try {
      await stop();
    } catch {
      this.#exitCode = Math.max(this.#exitCode, 1);
    }
  }
}

export const processOwners: ProcessOwners = new ProcessOwners(process);
