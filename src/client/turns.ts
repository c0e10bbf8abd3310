import type { Random } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import { WINDOW_MS } from "./places.ts";

/** An estimate of more than this is a guess, in milliseconds. */
const LONGEST_MS = 15 * 60_000;

/** Who was told to come back may come so much later, in milliseconds: the dispatcher adds a random part. */
const LATE_MS = 5_000;

/**
 * Tells requests for which there is no place when to come back: one after the other, as fast as places
 * come free. If all were sent away until the first free place, all but one would come in vain, and all
 * again after that.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #apartMs: () => number;
  #last = Number.NEGATIVE_INFINITY;

  /** @param sharers how many processes give turns at the same places */
  constructor(perMinute: number, clock: Clock, random: Random, sharers: () => number = () => 1) {
    this.#clock = clock;
    this.#random = random;
    this.#apartMs = () => (WINDOW_MS / perMinute) * sharers();
  }

  /** How long some of them may still be on their way back, in milliseconds; 0 when there are none. */
  get outstandingMs(): number {
    return Math.max(0, this.#lastInMs() + LATE_MS);
  }

  /** @param soonestMs when there can be a place at the soonest. @returns milliseconds, 15 minutes at most */
  next(soonestMs: number): number {
    const turn = Math.max(soonestMs, Math.ceil(this.#lastInMs() + this.#apartMs()));
    // These come back spread over some minutes, and are then told anew.
    if (turn > LONGEST_MS) return Math.ceil(LONGEST_MS * (0.5 + this.#random() / 2));
    this.#last = this.#clock.now() + turn;
    return turn;
  }

  #lastInMs(): number {
    const now = this.#clock.now();
    // The clock may have been set back.
    this.#last = Math.min(this.#last, now + LONGEST_MS);
    return this.#last - now;
  }
}
