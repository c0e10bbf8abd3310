import type { Clock } from "../core/clock.ts";

/** Lets one loop sleep until there is something to do. A call that comes too early is not lost. */
export class Wake {
  readonly #clock: Clock;
  #called = false;
  #wakeUp: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  call(): void {
    this.#called = true;
    this.#wakeUp();
  }

  /** Resolves when called, or after `ms` milliseconds; without `ms` only when called. */
  async wait(ms: number | undefined): Promise<void> {
    if (!this.#called) {
      const woken = Promise.withResolvers<void>();
      this.#wakeUp = woken.resolve;
      const cancel = ms === undefined ? undefined : this.#clock.timer(ms, woken.resolve);
      await woken.promise;
      cancel?.();
    }
    this.#called = false;
  }
}
