import type { Clock } from "../faces/core.ts";

/**
 * A clock that skips every wait, and moves forward by its duration. Deadlines never expire, because the requests use a
 * real network, whose time the clock does not follow.
 */
export class HurriedClock implements Clock {
  readonly waits: number[] = [];
  onWait: (() => void) | undefined;
  readonly #deadlineMs: number;
  #now = Date.parse("2026-01-01T00:00:00Z");

  /** @param deadlineMs the client's `timeoutMs`. Timers with exactly this duration are deadlines. */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  now(): number {
    return this.#now;
  }

  timer(ms: number, fn: () => void): () => void {
    if (ms === this.#deadlineMs) return () => undefined;
    this.waits.push(ms);
    this.onWait?.();
    const handle = setImmediate(() => {
      this.#now += ms;
      fn();
    });
    return () => clearImmediate(handle);
  }
}
