import type { Clock } from "../core/clock.ts";

/** What the platform counts requests by, in milliseconds; be its minute fixed or sliding. */
export const WINDOW_MS = 60_000;

/** What one request holds. One of the two is called, once. */
export interface Hold {
  /** The request is over. */
  end(): void;
  /** It was not sent. */
  giveBack(): void;
}

/** The places of a budget of requests, of this process or of several together. */
export interface Places {
  /** How many processes take from them. */
  readonly sharers: number;
  /** What is known of them is looked at again after this, in milliseconds. */
  readonly recheckMs: number;
  /** How many may be sent now, as far as is known. */
  free(): number;
  /** How long until so many are free, in milliseconds: at the soonest, where some are still under way. */
  freeInMs(count: number): number;
  /**
   * A request is about to be sent. Undefined where no place is at hand: `changed` is called when one may be.
   *
   * @param leave how many are to be left to others
   * @param wanted how many requests wait, this one included
   */
  take(leave: number, wanted: number): Hold | undefined;
  /** Called when there may be more than there were. */
  onChange(changed: () => void): void;
}

/**
 * Counts requests so that no minute of the platform has more than so many. It counts each somewhere
 * between its sending and its answer, and nobody knows where its minutes begin: so a request holds its
 * place from when it is sent until a minute after it has ended.
 */
export class OwnPlaces implements Places {
  readonly sharers = 1;
  readonly recheckMs: number = Number.POSITIVE_INFINITY;
  readonly #total: number;
  readonly #clock: Clock;
  #underWay = 0;
  /** When the requests ended that still hold a place, oldest first. */
  #ended: number[] = [];

  constructor(total: number, clock: Clock) {
    this.#total = total;
    this.#clock = clock;
  }

  free(): number {
    this.#letGo();
    return this.#total - this.#underWay - this.#ended.length;
  }

  freeInMs(count: number): number {
    const missing = count - this.free();
    if (missing <= 0) return 0;
    const last = this.#ended[missing - 1];
    return last === undefined ? WINDOW_MS : last + WINDOW_MS - this.#clock.now();
  }

  take(): Hold {
    this.#underWay += 1;
    return {
      end: () => {
        this.#underWay -= 1;
        this.#ended.push(this.#clock.now());
      },
      giveBack: () => {
        this.#underWay -= 1;
      },
    };
  }

  /** Nobody else changes them. */
  onChange(): void {}

  #letGo(): void {
    const now = this.#clock.now();
    // When the clock is set back, a place is held anew, and for no longer than that.
    for (let i = this.#ended.length - 1; (this.#ended[i] ?? 0) > now; i--) this.#ended[i] = now;
    const held = this.#ended.findIndex((at) => now - at < WINDOW_MS);
    this.#ended.splice(0, held === -1 ? this.#ended.length : held);
  }
}
