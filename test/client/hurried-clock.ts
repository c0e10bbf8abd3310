import type { Clock } from "../faces/core.ts";

/**
 * A clock on which every wait is over at once and has taken its time; deadlines never come. Clients whose requests go
 * over a real network are tested with it, for those end when they end.
 */
export class HurriedClock implements Clock {
  /** The waits so far, in milliseconds. */
  readonly waits: number[] = [];
  /** Called when a wait begins. */
  onWait: (() => void) | undefined;
  readonly #deadlineMs: number;
  #now = Date.parse("2026-01-01T00:00:00Z");

  /** @param deadlineMs the `timeoutMs` of the client: timers of just that length are deadlines */
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
