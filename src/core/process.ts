import { MAX_TIMER_MS } from "./clock.ts";

/** The used part of `process`, so that tests can replace it. */
export interface ProcessLike {
  on(event: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
}

/** Keeps the process alive until this has ended: connections to a database do not. */
export function untilEnded<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, MAX_TIMER_MS);
  return work.finally(() => clearInterval(timer));
}

const signals: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"];

/**
 * The bots that own a process. A signal stops each of them, and the process exits after the last one has stopped, so
 * that none cuts the handlers of another. A second signal exits at once with 1.
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

  /** @param stop stops the bot; called once, unless the bot stops by itself */
  add(stop: () => Promise<void>): void {
    if (this.#stops.size === 0) {
      for (const signal of signals) this.#process.on(signal, () => this.#onSignal());
    }
    this.#stops.add(stop);
  }

  /** Stops every bot, then exits with the highest of the codes. A stop that fails counts as 1. */
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
      // A bot that starts meanwhile stops in the next round.
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

/** The bots that own this process. */
export const processOwners: ProcessOwners = new ProcessOwners(process);
