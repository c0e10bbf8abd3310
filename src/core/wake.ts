import type { Clock } from "./clock.ts";

/** Lets a loop sleep until there is work. A call made before the wait is not lost. */
export class Wake {
  readonly #clock: Clock;
  #isCalled = false;
  #wakeUp: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  call(): void {
    this.#isCalled = true;
    this.#wakeUp();
  }

  /**
   * Resolves on the next `call`, or after `ms` milliseconds. Without `ms`, resolves only on a `call`.
   *
   * @param atMostMs like `ms`, but the timer does not keep the process alive
   */
  async wait(ms: number | undefined, atMostMs?: number): Promise<void> {
    if (!this.#isCalled) {
      const woken = Promise.withResolvers<void>();
      this.#wakeUp = woken.resolve;
      const cancel = ms === undefined ? undefined : this.#clock.timer(ms, woken.resolve);
      const options = { background: true };
      const cancelLook =
        atMostMs === undefined ? undefined : this.#clock.timer(atMostMs, woken.resolve, options);
      await woken.promise;
      cancel?.();
      cancelLook?.();
    }
    this.#isCalled = false;
  }
}
