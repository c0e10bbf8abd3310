import { type Clock, systemClock, type TimerOptions } from "../faces/core.ts";

/** Timeout of a call, in ms. */
const DEADLINE_MS = 10_000;

/** A clock that skips the waits between attempts. Deadlines expire when the test calls `expire()`. */
export class ImpatientClock implements Clock {
  readonly #deadlines = new Set<() => void>();

  #aheadMs = 0;

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  timer(ms: number, fn: () => void, options: TimerOptions = {}): () => void {
    if (options.background === true) return systemClock.timer(ms, fn, options);
    if (ms < DEADLINE_MS) {
      const passed = () => {
        this.#aheadMs += ms;
        fn();
      };
      return systemClock.timer(0, passed);
    }
    this.#deadlines.add(fn);
    return () => this.#deadlines.delete(fn);
  }

  expire(): void {
    for (const fn of this.#deadlines) fn();
  }
}
