import type { Clock } from "../core/clock.ts";

/** What the platform counts requests by, in milliseconds; be its minute fixed or sliding. */
export const WINDOW_MS = 60_000;

/**
 * Counts requests so that no minute of the platform has more than so many. It counts each somewhere
 * between its sending and its answer, and nobody knows where its minutes begin: so a request holds its
 * place from when it is sent until a minute after it has ended.
 */
export class Places {
  readonly total: number;
  readonly #clock: Clock;
  #underWay = 0;
  /** When the requests ended that still hold a place, oldest first. */
  #ended: number[] = [];

  constructor(total: number, clock: Clock) {
    this.total = total;
    this.#clock = clock;
  }

  /** How many may be sent now. */
  free(): number {
    this.#letGo();
    return this.total - this.#underWay - this.#ended.length;
  }

  /** How long until so many are free, in milliseconds: at the soonest, where some are still under way. */
  freeInMs(count: number): number {
    const missing = count - this.free();
    if (missing <= 0) return 0;
    const last = this.#ended[missing - 1];
    return last === undefined ? WINDOW_MS : last + WINDOW_MS - this.#clock.now();
  }

  /** A request is about to be sent. */
  take(): void {
    this.#underWay += 1;
  }

  /** A request is over. */
  end(): void {
    this.#underWay -= 1;
    this.#ended.push(this.#clock.now());
  }

  /** A request was not sent after all. */
  giveBack(): void {
    this.#underWay -= 1;
  }

  #letGo(): void {
    const now = this.#clock.now();
    // When the clock is set back, a place is held anew, and for no longer than that.
    for (let i = this.#ended.length - 1; (this.#ended[i] ?? 0) > now; i--) this.#ended[i] = now;
    const held = this.#ended.findIndex((at) => now - at < WINDOW_MS);
    this.#ended.splice(0, held === -1 ? this.#ended.length : held);
  }
}
