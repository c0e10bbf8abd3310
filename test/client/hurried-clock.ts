import type { Clock } from "../faces/core.ts";

/**
 * A clock that skips every wait and advances by its duration. Deadlines never expire, because the requests use a real
 * network and take real time.
 */
export class HurriedClock implements Clock {
  /** Waits so far, in ms. */
  readonly waits: number[] = [];
  onWait: (() => void) | undefined;
  readonly #deadlineMs: number;
  #now = Date.parse("2026-01-01T00:00:00Z");

  /** @param deadlineMs the client's `timeoutMs`; timers with exactly this duration are deadlines */
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
