import type { Clock, TimerOptions } from "../core/clock.ts";

interface Timer {
  readonly at: number;
  readonly fn: () => void;
  readonly background: boolean;
}

/** Clock that stands still until a test advances it. */
export class ManualClock implements Clock {
  #now: number;
  #timers: Timer[] = [];

  /** @param start milliseconds since 1970. Default: the current time */
  constructor(start: number = Date.now()) {
    this.#now = start;
  }

  /** Returns the time in milliseconds since 1970. Does not change until the clock is advanced. */
  now(): number {
    return this.#now;
  }

  /** Calls `fn` after `ms` milliseconds, unless the returned function is called first. */
  timer(ms: number, fn: () => void, { background = false }: TimerOptions = {}): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, ms), fn, background };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Number of pending timers. */
  get waiting(): number {
    return this.#timers.length;
  }

  /**
   * Advances the clock by `ms` milliseconds, and fires due timers in order. A timer's effects get a turn of the event
   * loop before the next timer fires. Background timers fire once, at the end, as if the machine had slept. Otherwise a
   * month would fire them millions of times.
   *
   * @param settle waits until a timer's work has ended. Default: some turns of the event loop
   */
  async advance(ms: number, settle: () => Promise<void> = turn): Promise<void> {
    // Work in progress may be about to set its timer.
    await settle();
    const until = this.#now + ms;
    for (;;) {
      const due = this.#due(until).find(({ background }) => !background);
      if (due === undefined) break;
      await this.#fire(due, settle);
    }
    this.#now = until;
    for (const due of this.#due(until)) await this.#fire(due, settle);
    await settle();
  }

  #due(until: number): Timer[] {
    return this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
  }

  async #fire(timer: Timer, settle: () => Promise<void>): Promise<void> {
    // An earlier timer may have cancelled this timer.
    if (!this.#timers.includes(timer)) return;
    this.#timers = this.#timers.filter((other) => other !== timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.fn();
    await settle();
  }
}

/** Waits five turns of the event loop, because promises settle and group commits run in later turns. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}
