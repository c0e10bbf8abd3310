import type { Clock, TimerOptions } from "../core/clock.ts";

interface Timer {
  readonly at: number;
  readonly fn: () => void;
  readonly background: boolean;
}

/** A clock that stands still until it is advanced. */
export class ManualClock implements Clock {
  #now: number;
  #timers: Timer[] = [];

  /** @param start milliseconds since 1970; by default the present */
  constructor(start: number = Date.now()) {
    this.#now = start;
  }

  /** Milliseconds since 1970; the same until it is advanced. */
  now(): number {
    return this.#now;
  }

  /** Calls `fn` once the time has come, unless the returned function is called before. */
  timer(ms: number, fn: () => void, { background = false }: TimerOptions = {}): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, ms), fn, background };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Number of timers that wait. */
  get waiting(): number {
    return this.#timers.length;
  }

  /**
   * Moves the time on by `ms` milliseconds and fires the timers that fall due, in order. The consequences of a timer get
   * a turn of the event loop before the next one fires. Timers in the background fire once, at the end, as after a sleep
   * of the machine; otherwise a month would be millions of looks at a file.
   *
   * @param settle waits until the work of a timer has ended. Default: some turns of the event loop
   */
  async advance(ms: number, settle: () => Promise<void> = turn): Promise<void> {
    // Work that has begun may be about to set its timer.
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
    // It may have been cancelled by one before it.
    if (!this.#timers.includes(timer)) return;
    this.#timers = this.#timers.filter((other) => other !== timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.fn();
    await settle();
  }
}

/** Promises settle and group commits are written in the turns after the one that asked for them. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}
