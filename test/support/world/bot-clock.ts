import type { Clock, TimerOptions } from "../../faces/core.ts";

/** The clock of one bot. It stops for good when the bot is killed, so that a killed bot has no further effects. */
export class BotClock implements Clock {
  readonly #clock: Clock;
  readonly #cancels = new Set<() => void>();
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  now(): number {
    return this.#clock.now();
  }

  timer(ms: number, fn: () => void, options?: TimerOptions): () => void {
    if (this.#isStopped) return () => undefined;
    const fire = () => {
      this.#cancels.delete(cancel);
      fn();
    };
    const cancelTimer = this.#clock.timer(ms, fire, options);
    const cancel = () => {
      this.#cancels.delete(cancel);
      cancelTimer();
    };
    this.#cancels.add(cancel);
    return cancel;
  }

  /** Cancels all timers, and ignores new ones. */
  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#cancels) cancel();
  }
}
