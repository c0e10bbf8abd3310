import { type Clock, sleep } from "../core/clock.ts";

/** Lets one loop sleep until there is something to do. A call that comes too early is not lost. */
export class Wake {
  readonly #clock: Clock;
  #called = false;
  #sleeper: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  call(): void {
    if (this.#called) return;
    this.#called = true;
    this.#sleeper?.abort();
  }

  /** Resolves when called, or after `ms` milliseconds; without `ms` only when called. */
  async wait(ms: number | undefined): Promise<void> {
    if (!this.#called) {
      const sleeper = new AbortController();
      this.#sleeper = sleeper;
      await (ms === undefined ? aborted(sleeper.signal) : sleep(this.#clock, ms, sleeper.signal));
      this.#sleeper = undefined;
    }
    this.#called = false;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
