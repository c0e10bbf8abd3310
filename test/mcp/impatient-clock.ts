import { type Clock, systemClock, type TimerOptions } from "../faces/core.ts";

/** The deadline of a call, in milliseconds. */
const DEADLINE_MS = 10_000;

/** A clock on which waits between two tries have passed at once, and deadlines come when they are called. */
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

  /** The calls under way have had their time. */
  expire(): void {
    for (const fn of this.#deadlines) fn();
  }
}
