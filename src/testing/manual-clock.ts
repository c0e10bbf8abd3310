import type { Clock, TimerOptions } from "../core/clock.ts";
import { BOOLEAN, FUNCTION, type Kind, NUMBER } from "../core/kinds.ts";
import { type OptionTable, readOptions, requireKind } from "../core/option-checks.ts";

const TIME: Kind = { expected: "a time in ms since 1970", fits: Number.isFinite };

const DELAY: Kind = { ...NUMBER, expected: "a number of milliseconds" };

const DURATION: Kind = {
  expected: "a number of milliseconds, at least 0",
  fits: (value) => Number.isFinite(value) && Number(value) >= 0,
};

const TIMER_OPTIONS: OptionTable<TimerOptions> = { background: BOOLEAN };

interface Timer {
  readonly at: number;
  readonly fn: () => void;
  readonly background: boolean;
}

/** A clock that stands still until a test advances it. */
export class ManualClock implements Clock {
  #now: number;
  #timers: Timer[] = [];

  /**
   * Creates a clock that stands still.
   *
   * @param start initial time in ms since 1970. Default: the current time
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(start: number = Date.now()) {
    requireKind("start", start, TIME);
    this.#now = start;
  }

  /** Returns the time in ms since 1970. */
  now(): number {
    return this.#now;
  }

  /** Calls `fn` after `ms` milliseconds, unless the returned function is called first. */
  timer(ms: number, fn: () => void, options: TimerOptions = {}): () => void {
    requireKind("ms", ms, DELAY);
    requireKind("fn", fn, FUNCTION);
    const { background = false } = readOptions(options, TIMER_OPTIONS);
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
   * Advances the clock by `ms` milliseconds and fires due timers in order. Before each timer, the effects of the
   * previous one get time to happen. Background timers fire only once, at the end, as if the machine had been asleep.
   * Otherwise, advancing by a month would fire them millions of times.
   *
   * @param settle waits until a timer's work has ended. Default: a few turns of the event loop
   */
  async advance(ms: number, settle: () => Promise<void> = turn): Promise<void> {
    requireKind("ms", ms, DURATION);
    requireKind("settle", settle, FUNCTION);
    // Work in progress may be about to set a timer.
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
    // An earlier timer may have cancelled this one.
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
