import type { Clock, Random } from "../core/clock.ts";
import { minOf } from "../core/extremes.ts";
import { aboutEvent } from "../core/trace.ts";
import { channels } from "../observe/channels.ts";
import { NetworkError } from "./errors.ts";

/** Kinds of requests, most important first: a handler's write, a handler's read, the audit, and polling. */
const KINDS = ["write", "read", "audit", "poll"] as const;

export type RequestKind = (typeof KINDS)[number];

/** Remaining request budget. */
export interface RequestsStatus {
  /** Maximum number of requests in any 60 s: this instance's share of `MAX_REQUESTS_PER_MINUTE`. */
  readonly perMinute: number;
  /** Number of requests that may be sent now. */
  readonly left: number;
  /** Number of requests waiting for a permit. Postponed events do not count. */
  readonly waiting: number;
}

export interface LimiterOptions {
  /** Maximum number of requests in any 60 s, at least 1. */
  readonly perMinute: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly bot?: object | undefined;
}

/**
 * Minimum budget of a bot, and minimum share of an instance. With fewer permits, a run of three requests would be
 * postponed before its last request every time.
 */
export const MIN_PER_MINUTE = 5;

/** Length of the window, in ms. The platform counts requests per minute, in either fixed or sliding windows. */
const WINDOW_MS = 60_000;

/**
 * Longest wait of a handler's request, in ms. Long enough to get a permit that is about to become free, and well within
 * a handler's time limit.
 */
export const HANDLER_WAIT_MS = 5_000;

/** Wait after which the audit and polling take precedence, in ms, because even a busy bot must read the event log. */
const STARVED_MS = 60_000;

/** Minimum interval between two `budget-wait` messages, in ms. */
const REPORT_INTERVAL_MS = 60_000;

/** Longest wait before a retry, in ms. Predicting a retry further ahead would be a guess. */
const MAX_RETRY_MS = 15 * 60_000;

/** Time allowed for the jitter that the dispatcher adds to a retry, in ms. */
const RETRY_SLACK_MS = 5_000;

/** Permit for one request. The holder must call exactly one of the methods, and only once. */
export interface Permit {
  /** Ends a request that was sent. */
  end(): void;
  /** Returns the permit if the request was not sent. */
  giveBack(): void;
}

/**
 * Allows `perMinute` requests in any 60 s. A request counts from its start until a minute after its end, because the
 * platform may count it at any time in between.
 */
class RateLimit {
  perMinute: number;
  readonly #clock: Clock;
  #inFlight = 0;
  /** End times of requests that still count, oldest first. */
  #ended: number[] = [];

  constructor(perMinute: number, clock: Clock) {
    this.perMinute = perMinute;
    this.#clock = clock;
  }

  /** Returns the number of requests that may be sent now. Negative after the limit was lowered. */
  free(): number {
    this.#forget();
    return this.perMinute - this.#inFlight - this.#ended.length;
  }

  /** Returns the wait until `count` requests may be sent, in ms. A lower bound while requests are in flight. */
  freeInMs(count: number): number {
    const missing = count - this.free();
    if (missing <= 0) return 0;
    const endedAt = this.#ended[missing - 1];
    return endedAt === undefined ? WINDOW_MS : endedAt + WINDOW_MS - this.#clock.now();
  }

  begin(): void {
    this.#inFlight += 1;
  }

  end(wasSent: boolean): void {
    this.#inFlight -= 1;
    if (wasSent) this.#ended.push(this.#clock.now());
  }

  #forget(): void {
    const now = this.#clock.now();
    // If the clock is set back, a request counts for at most one more minute.
    for (let i = this.#ended.length - 1; (this.#ended[i] ?? 0) > now; i--) this.#ended[i] = now;
    const counting = this.#ended.findIndex((at) => now - at < WINDOW_MS);
    this.#ended.splice(0, counting === -1 ? this.#ended.length : counting);
  }
}

interface Waiter {
  readonly kind: RequestKind;
  readonly since: number;
  readonly grant: (permit: Permit) => void;
}

/**
 * Shares the request budget among handlers, the audit and polling. Polling has the lowest priority, and leaves a
 * quarter of the budget to other requests. While handlers' requests are postponed, the audit leaves that quarter as
 * well. A handler's read leaves one permit for the write that follows. Otherwise all handlers could read but none could
 * write.
 */
export class RequestLimiter {
  readonly #options: LimiterOptions;
  readonly #limit: RateLimit;
  readonly #retries: RetryScheduler;
  /** Waiting requests by importance, then by arrival. */
  readonly #queue: Waiter[] = [];
  #cancelWake: () => void = () => undefined;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#limit = new RateLimit(options.perMinute, options.clock);
    this.#retries = new RetryScheduler(options, this.#limit);
  }

  get status(): RequestsStatus {
    const { perMinute } = this.#limit;
    return { perMinute, left: Math.max(0, this.#limit.free()), waiting: this.#queue.length };
  }

  /**
   * Divides the budget by the number of instances. If the share is below the minimum, all instances together may exceed
   * the budget.
   */
  divideBy(instances: number): void {
    const { perMinute } = this.#options;
    const share = Math.max(MIN_PER_MINUTE, Math.floor(perMinute / instances));
    this.#limit.perMinute = Math.min(perMinute, share);
    this.#serve();
  }

  /**
   * Waits for a permit. The caller must then send its request at once. The audit and polling wait without a time limit.
   * A handler's request waits at most 5 s, and fails at once if no permit can become free by then.
   *
   * @throws {NetworkError} API_BUDGET_SPENT
   * @throws the signal's reason, once it aborts
   */
  async take(kind: RequestKind, signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    this.#serve();
    const soonestMs = this.#soonestMs(kind);
    if (soonestMs > 0) this.#report(kind);
    const isHandlers = kind === "write" || kind === "read";
    if (isHandlers && soonestMs > HANDLER_WAIT_MS) throw this.#spent(kind);
    const { clock } = this.#options;
    const { promise, resolve: grant, reject } = Promise.withResolvers<Permit>();
    const waiter: Waiter = { kind, since: clock.now(), grant };
    const leave = (reason: () => unknown) => {
      if (!this.#remove(waiter)) return;
      reject(reason());
      this.#serve();
    };
    const abort = () => leave(() => signal?.reason);
    const giveUp = () => {
      // A permit may be about to become free.
      this.#serve();
      leave(() => this.#spent(kind));
    };
    this.#add(waiter);
    this.#serve();
    // The permit has already been granted.
    if (!this.#queue.includes(waiter)) return promise;
    const cancel = isHandlers ? clock.timer(HANDLER_WAIT_MS, giveUp) : () => undefined;
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await promise;
    } finally {
      cancel();
      signal?.removeEventListener("abort", abort);
    }
  }

  #serve(): void {
    this.#cancelWake();
    this.#cancelWake = () => undefined;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#remove(next);
      next.grant(this.#permit());
    }
    const [first] = this.#queue;
    if (first === undefined) return;
    this.#cancelWake = this.#options.clock.timer(this.#wakeInMs(first.kind), () => this.#serve());
  }

  #next(): Waiter | undefined {
    const [first] = this.#queue;
    if (first === undefined) return undefined;
    const free = this.#limit.free();
    const starved = this.#queue.find((waiter) => this.#starvesInMs(waiter) <= 0);
    if (starved !== undefined) return free > 0 ? starved : undefined;
    // Checking the first request is enough, because less important requests need at least as many free permits.
    return free > this.#reserveFor(first.kind) ? first : undefined;
  }

  #permit(): Permit {
    this.#limit.begin();
    const end = (wasSent: boolean) => {
      this.#limit.end(wasSent);
      this.#serve();
    };
    return { end: () => end(true), giveBack: () => end(false) };
  }

  #wakeInMs(first: RequestKind): number {
    const starvedMs = minOf(this.#queue.map((waiter) => this.#starvesInMs(waiter)));
    const calmMs = this.#retries.outstandingMs || Number.POSITIVE_INFINITY;
    const freeMs = this.#limit.freeInMs(this.#reserveFor(first) + 1);
    return Math.min(freeMs, Math.max(this.#limit.freeInMs(1), starvedMs), calmMs);
  }

  /** Returns the number of permits that this kind leaves to more important requests. */
  #reserveFor(kind: RequestKind): number {
    const reserve = reserveOf(this.#limit.perMinute);
    const isTight = this.#retries.outstandingMs > 0;
    if (kind === "poll") return reserve;
    if (kind === "audit") return isTight ? reserve : 0;
    return kind === "read" && isTight ? Math.min(1, reserve) : 0;
  }

  #soonestMs(kind: RequestKind): number {
    const ahead = this.#queue.filter((waiter) => rankOf(waiter.kind) <= rankOf(kind)).length;
    return this.#limit.freeInMs(ahead + this.#reserveFor(kind) + 1);
  }

  /**
   * Returns the wait until a log request takes precedence over all others, in ms. A handler's request never does,
   * because it is postponed instead.
   */
  #starvesInMs({ kind, since }: Waiter): number {
    if (kind === "write" || kind === "read") return Number.POSITIVE_INFINITY;
    return since + STARVED_MS - this.#options.clock.now();
  }

  #add(waiter: Waiter): void {
    const at = this.#queue.findIndex(({ kind }) => rankOf(kind) > rankOf(waiter.kind));
    this.#queue.splice(at === -1 ? this.#queue.length : at, 0, waiter);
  }

  /** Returns whether the request was still waiting. */
  #remove(waiter: Waiter): boolean {
    const at = this.#queue.indexOf(waiter);
    if (at >= 0) this.#queue.splice(at, 1);
    return at >= 0;
  }

  #spent(kind: RequestKind): NetworkError {
    const retryAfterMs = this.#retries.next(this.#soonestMs(kind));
    return new NetworkError(
      "API_BUDGET_SPENT",
      `Not sent because this minute's ${this.#limit.perMinute} requests (MAX_REQUESTS_PER_MINUTE) are used up. ` +
        `Next attempt in about ${Math.ceil(retryAfterMs / 1000)} s.`,
      { sent: false, retryAfterMs },
    );
  }

  #report(kind: RequestKind): void {
    const { clock, bot } = this.#options;
    const now = clock.now();
    if (Math.abs(now - this.#reportedAt) < REPORT_INTERVAL_MS) return;
    this.#reportedAt = now;
    const { perMinute } = this.#limit;
    channels["budget-wait"].publish({ bot, kind, perMinute, ...aboutEvent() });
  }
}

/**
 * Schedules the retries of requests without a permit, one after another, at the rate at which permits become free. If
 * all requests retried for the first free permit, all but one would fail again.
 */
class RetryScheduler {
  readonly #options: Pick<LimiterOptions, "clock" | "random">;
  readonly #limit: RateLimit;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(options: Pick<LimiterOptions, "clock" | "random">, limit: RateLimit) {
    this.#options = options;
    this.#limit = limit;
  }

  /** Remaining time in which postponed requests may retry, in ms. 0 if there are none. */
  get outstandingMs(): number {
    return Math.max(0, this.#lastInMs() + RETRY_SLACK_MS);
  }

  /** Returns the wait before the next request is retried, in ms: at least `soonestMs`, at most 15 minutes. */
  next(soonestMs: number): number {
    const { clock, random } = this.#options;
    const intervalMs = WINDOW_MS / this.#limit.perMinute;
    const inMs = Math.max(soonestMs, Math.ceil(this.#lastInMs() + intervalMs));
    // Requests beyond the limit retry at random within some minutes, and are scheduled again then.
    if (inMs > MAX_RETRY_MS) return Math.ceil(MAX_RETRY_MS * (0.5 + random() / 2));
    this.#lastAt = clock.now() + inMs;
    return inMs;
  }

  #lastInMs(): number {
    const now = this.#options.clock.now();
    // The clock may have been set back.
    this.#lastAt = Math.min(this.#lastAt, now + MAX_RETRY_MS);
    return this.#lastAt - now;
  }
}

function rankOf(kind: RequestKind): number {
  return KINDS.indexOf(kind);
}

/** Returns the number of permits per minute that polling leaves to other requests. */
export function reserveOf(perMinute: number): number {
  return perMinute === 1 ? 0 : Math.ceil(perMinute / 4);
}
