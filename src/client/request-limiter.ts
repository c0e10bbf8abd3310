import type { Clock, Random } from "../core/clock.ts";
import { aboutEvent } from "../core/trace.ts";
import { channels } from "../observe/channels.ts";
import { NetworkError } from "./errors.ts";

/** Senders of requests, the most important first: a handler that writes or reads, the audit, the polling. */
const KINDS = ["write", "read", "audit", "poll"] as const;

export type RequestKind = (typeof KINDS)[number];

/** How much of the budget is left. */
export interface RequestsStatus {
  /** Requests in any 60 s: the share of this instance in `MAX_REQUESTS_PER_MINUTE`. */
  readonly perMinute: number;
  /** How many requests may be sent at this moment. */
  readonly left: number;
  /** How many requests wait for a permit. Events that were put off without one do not count. */
  readonly waiting: number;
}

export interface LimiterOptions {
  /** Requests in any 60 s, from 1 up. */
  readonly perMinute: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Named in the messages of channels. */
  readonly bot?: object | undefined;
}

/**
 * Least budget of a bot, and least share of an instance. A run of three requests would otherwise be put off before its last
 * one, every time.
 */
export const MIN_PER_MINUTE = 5;

/** In ms. The platform counts requests by the minute, which may be fixed or sliding. */
const WINDOW_MS = 60_000;

/** In ms. Handlers have a time limit; this is enough for a permit that is about to come free. */
export const HANDLER_WAIT_MS = 5_000;

/** In ms. Audit and polling go first after this wait, because a busy bot must read the log too. */
const STARVED_MS = 60_000;

/** In ms. Minimum between two reports of waiting. */
const REPORT_INTERVAL_MS = 60_000;

/** In ms. A later retry would be a guess. */
const MAX_RETRY_MS = 15 * 60_000;

/** In ms. The dispatcher adds a random part to the time at which a request comes back. */
const RETRY_SLACK_MS = 5_000;

/** Held by one request while it counts. One of the two methods is called, once. */
export interface Permit {
  /** The request has ended. */
  end(): void;
  /** The request was not sent. */
  giveBack(): void;
}

/**
 * Counts requests so that no 60 s have more than `perMinute`. Each counts from when it is sent until a minute after its end,
 * because the platform may count it anywhere in between.
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

  /** Returns how many requests may be sent now; negative after the limit was lowered. */
  free(): number {
    this.#forget();
    return this.perMinute - this.#inFlight - this.#ended.length;
  }

  /** Returns in how many ms so many requests may be sent; a lower bound while some are in flight. */
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
    // After the clock is set back, a request counts for one more minute at most.
    for (let i = this.#ended.length - 1; (this.#ended[i] ?? 0) > now; i--) this.#ended[i] = now;
    const counting = this.#ended.findIndex((at) => now - at < WINDOW_MS);
    this.#ended.splice(0, counting === -1 ? this.#ended.length : counting);
  }
}

/** A request that waits for its permit. */
interface Waiter {
  readonly kind: RequestKind;
  /** When it began to wait. */
  readonly since: number;
  readonly grant: (permit: Permit) => void;
}

/**
 * Shares the requests of a minute among handlers, audit and polling. Polling gives way first: it leaves a quarter to
 * the others. While handlers are put off, the audit leaves that quarter too. Their reads leave one permit for the write that
 * follows, because otherwise all could read and none write.
 */
export class RequestLimiter {
  readonly #options: LimiterOptions;
  readonly #limit: RateLimit;
  readonly #retries: RetryScheduler;
  /** Waiting requests: the most important first, equals in the order of their arrival. */
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

  /** Divides the budget among so many instances, of which this is one. Shares of the minimum may exceed it together. */
  divideBy(instances: number): void {
    const { perMinute } = this.#options;
    const share = Math.max(MIN_PER_MINUTE, Math.floor(perMinute / instances));
    this.#limit.perMinute = Math.min(perMinute, share);
    this.#serve();
  }

  /**
   * Waits for the permit of a request, which must be sent at once then. The audit and the polling wait as long as it takes. A
   * handler's request waits 5 s at most, and not at all if no permit can be free by then.
   *
   * @throws {NetworkError} API_BUDGET_SPENT
   * @throws the reason of the signal, once it aborts
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
      // A permit may come free at this very moment.
      this.#serve();
      leave(() => this.#spent(kind));
    };
    this.#add(waiter);
    this.#serve();
    // Granted at once.
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

  /** Grants permits to waiting requests, and schedules the next look. */
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

  /** Returns the next request if there is a permit for it. */
  #next(): Waiter | undefined {
    const [first] = this.#queue;
    if (first === undefined) return undefined;
    const free = this.#limit.free();
    const starved = this.#queue.find((waiter) => this.#starvesInMs(waiter) <= 0);
    if (starved !== undefined) return free > 0 ? starved : undefined;
    // Less important requests leave at least as many permits.
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
    const starvedMs = Math.min(...this.#queue.map((waiter) => this.#starvesInMs(waiter)));
    const calmMs = this.#retries.outstandingMs || Number.POSITIVE_INFINITY;
    const freeMs = this.#limit.freeInMs(this.#reserveFor(first) + 1);
    return Math.min(freeMs, Math.max(this.#limit.freeInMs(1), starvedMs), calmMs);
  }

  /** Returns how many permits this kind leaves to more important requests. */
  #reserveFor(kind: RequestKind): number {
    const reserve = reserveOf(this.#limit.perMinute);
    const isTight = this.#retries.outstandingMs > 0;
    if (kind === "poll") return reserve;
    if (kind === "audit") return isTight ? reserve : 0;
    return kind === "read" && isTight ? Math.min(1, reserve) : 0;
  }

  /** Returns in how many ms, at the soonest, there is a permit for one more request of this kind. */
  #soonestMs(kind: RequestKind): number {
    const ahead = this.#queue.filter((waiter) => rankOf(waiter.kind) <= rankOf(kind)).length;
    return this.#limit.freeInMs(ahead + this.#reserveFor(kind) + 1);
  }

  /** Returns in how many ms a request of the log goes before all others. Handlers' requests come back instead. */
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
      `Not sent because the ${this.#limit.perMinute} requests of this minute (MAX_REQUESTS_PER_MINUTE) are used up. ` +
        `Next try in about ${Math.ceil(retryAfterMs / 1000)} s.`,
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
 * Schedules when requests without a permit come back: one after the other, as fast as permits come free. If all came
 * back for the first free permit, all but one would come in vain, again and again.
 */
class RetryScheduler {
  readonly #options: Pick<LimiterOptions, "clock" | "random">;
  readonly #limit: RateLimit;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(options: Pick<LimiterOptions, "clock" | "random">, limit: RateLimit) {
    this.#options = options;
    this.#limit = limit;
  }

  /** For how many ms some of the requests may still be on their way back; 0 without any. */
  get outstandingMs(): number {
    return Math.max(0, this.#lastInMs() + RETRY_SLACK_MS);
  }

  /** Returns in how many ms the next request comes back: `soonestMs` at least, 15 minutes at most. */
  next(soonestMs: number): number {
    const { clock, random } = this.#options;
    const intervalMs = WINDOW_MS / this.#limit.perMinute;
    const inMs = Math.max(soonestMs, Math.ceil(this.#lastInMs() + intervalMs));
    // Requests beyond that come back spread over some minutes, and are scheduled anew.
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

/** Returns how many of so many requests a minute polling leaves to the others. */
export function reserveOf(perMinute: number): number {
  return perMinute === 1 ? 0 : Math.ceil(perMinute / 4);
}
