import type { Clock } from "../../faces/core.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  fn: (() => void) | undefined;
}

/**
 * A clock that jumps from timer to timer. Its queue is a heap, and one turn of the event loop is all
 * that it grants between two timers: everything simulated waits through this clock or not at all.
 */
export class EventClock implements Clock {
  #now: number;
  #order = 0;
  readonly #heap: Timer[] = [];

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  timer(ms: number, fn: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, ms), order: this.#order++, fn };
    this.#push(timer);
    return () => {
      timer.fn = undefined;
    };
  }

  /** Fires everything that falls due until then, in order. */
  async runUntil(until: number): Promise<void> {
    await turn();
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.at > until) break;
      this.#pop();
      if (first.fn === undefined) continue;
      this.#now = first.at;
      first.fn();
      await turn();
    }
    this.#now = until;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || before(parent, timer)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && before(right, left);
      const child = isRight ? right : left;
      if (before(last, child)) break;
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
