import type { Random } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import { NetworkError } from "./errors.ts";
import { type Hold, OwnPlaces, type Places } from "./places.ts";
import { Turns } from "./turns.ts";
import { type RequestKind, type Waiter, WaitingRoom } from "./waiting.ts";

/** How much of the budget is left. */
export interface RequestsStatus {
  /** `MAX_REQUESTS_PER_MINUTE`. */
  readonly perMinute: number;
  /** How many requests may be sent at this moment. */
  readonly left: number;
  /** How many wait for a place. Events that were put off for want of one are not among them. */
  readonly waiting: number;
}

/** Requests have begun to wait. */
export interface BudgetWait {
  /** Whose: a handler's `write` or `read`, the `audit`'s or the polling's (`poll`). */
  readonly kind: RequestKind;
  /** The budget: requests in any 60 s. */
  readonly perMinute: number;
}

export interface BudgetOptions {
  /** At most so many requests in any 60 seconds, from 1 up. */
  readonly perMinute: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Told when a request has to wait or is put off, at most once a minute. */
  readonly onWait?: ((wait: BudgetWait) => void) | undefined;
  /** Where the places are; of this process alone by default. */
  readonly places?: Places | undefined;
}

/**
 * How long a handler's request waits for a place, in milliseconds. Handlers have a time limit, and others
 * want their turn; it is enough for a place that is just about to come free.
 */
export const HANDLER_WAIT_MS = 5_000;

/** Between two reports of waiting, in milliseconds. */
const REPORT_MS = 60_000;

/**
 * Shares so many requests a minute among handlers, audit and polling. Polling gives way first: it leaves
 * a quarter to the others. While handlers are put off, the audit leaves that quarter too, and their reads
 * leave a place for the write that they are made for: else all could read, and none write.
 */
export class RequestBudget {
  readonly #options: BudgetOptions;
  readonly #places: Places;
  readonly #turns: Turns;
  readonly #room: WaitingRoom;
  #cancelWake: () => void = () => undefined;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(options: BudgetOptions) {
    const { perMinute, clock, random } = options;
    this.#options = options;
    const places = options.places ?? new OwnPlaces(perMinute, clock);
    this.#places = places;
    this.#turns = new Turns(perMinute, clock, random, () => places.sharers);
    this.#room = new WaitingRoom(clock);
    places.onChange(() => this.#serve());
  }

  get status(): RequestsStatus {
    const { perMinute } = this.#options;
    return { perMinute, left: this.#places.free(), waiting: this.#room.size };
  }

  /**
   * Takes a place; the request is to be sent at once after that. An audit or a poll waits for one as long
   * as it takes, a handler's request for five seconds at most, and not at all where there is none by then.
   *
   * @throws {NetworkError} API_BUDGET_SPENT
   * @throws the reason of the signal, once it aborts
   */
  take(kind: RequestKind, signal?: AbortSignal): Promise<Hold> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      this.#serve();
      const soonestMs = this.#soonestMs(kind);
      if (soonestMs > 0) this.#report(kind);
      const ofHandler = kind === "write" || kind === "read";
      if (ofHandler && soonestMs > HANDLER_WAIT_MS) return reject(this.#spent(kind));
      const { clock } = this.#options;
      const abort = () => leave(() => signal?.reason);
      const giveUp = () => {
        // A place may come free at this very moment.
        this.#serve();
        leave(() => this.#spent(kind));
      };
      const cancel = ofHandler ? clock.timer(HANDLER_WAIT_MS, giveUp) : () => undefined;
      const stop = () => {
        cancel();
        signal?.removeEventListener("abort", abort);
      };
      const grant = (hold: Hold) => {
        stop();
        resolve(this.#place(hold));
      };
      const waiter: Waiter = { kind, since: clock.now(), grant };
      const leave = (why: () => unknown) => {
        if (!this.#room.remove(waiter)) return;
        stop();
        reject(why());
        this.#serve();
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#room.add(waiter);
      this.#serve();
    });
  }

  #place(hold: Hold): Hold {
    const over = (how: keyof Hold) => {
      hold[how]();
      this.#serve();
    };
    return { end: () => over("end"), giveBack: () => over("giveBack") };
  }

  /** Gives places to those who wait, and looks again when that can change. */
  #serve(): void {
    this.#cancelWake();
    this.#cancelWake = () => undefined;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const leave = this.#room.starved() === next ? 0 : this.#leaves(next.kind);
      const hold = this.#places.take(leave, this.#room.size);
      // It is being seen to, and this is called again then.
      if (hold === undefined) return;
      this.#room.remove(next);
      next.grant(hold);
    }
    const first = this.#room.first();
    if (first === undefined) return;
    const ms = this.#wakeInMs(first.kind);
    this.#cancelWake = this.#options.clock.timer(ms, () => this.#serve());
  }

  /** Whoever is next, if there is a place for it. */
  #next(): Waiter | undefined {
    const free = this.#places.free();
    const starved = this.#room.starved();
    if (starved !== undefined) return free > 0 ? starved : undefined;
    const first = this.#room.first();
    // The less important leave at least as much.
    return first !== undefined && free > this.#leaves(first.kind) ? first : undefined;
  }

  #wakeInMs(first: RequestKind): number {
    const anyMs = this.#places.freeInMs(1);
    const starvedMs = Math.max(anyMs, this.#room.starvesInMs());
    const calmMs = this.#turns.outstandingMs || Number.POSITIVE_INFINITY;
    const freeMs = this.#places.freeInMs(this.#leaves(first) + 1);
    return Math.min(freeMs, starvedMs, calmMs, this.#places.recheckMs);
  }

  /** How many places this kind leaves to others. */
  #leaves(kind: RequestKind): number {
    const reserve = reserveOf(this.#options.perMinute);
    const tight = this.#turns.outstandingMs > 0;
    if (kind === "poll") return reserve;
    if (kind === "audit") return tight ? reserve : 0;
    return kind === "read" && tight ? Math.min(1, reserve) : 0;
  }

  /** When there can be a place for one more of this kind, in milliseconds. */
  #soonestMs(kind: RequestKind): number {
    return this.#places.freeInMs(this.#room.upTo(kind) + this.#leaves(kind) + 1);
  }

  #spent(kind: RequestKind): NetworkError {
    const retryAfterMs = this.#turns.next(this.#soonestMs(kind));
    return new NetworkError(
      "API_BUDGET_SPENT",
      `Not sent: the ${this.#options.perMinute} requests a minute (MAX_REQUESTS_PER_MINUTE) are used up; ` +
        `there should be a place in ${Math.ceil(retryAfterMs / 1000)} s.`,
      { sent: false, retryAfterMs },
    );
  }

  #report(kind: RequestKind): void {
    const { clock, onWait, perMinute } = this.#options;
    const now = clock.now();
    if (Math.abs(now - this.#reportedAt) < REPORT_MS) return;
    this.#reportedAt = now;
    onWait?.({ kind, perMinute });
  }
}

/** How many of so many requests a minute polling leaves to the others. */
export function reserveOf(perMinute: number): number {
  return perMinute === 1 ? 0 : Math.ceil(perMinute / 4);
}
