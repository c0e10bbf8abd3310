import type { Clock } from "../../core/clock.ts";
import * as z from "../../core/zod.ts";
import { PlatformError } from "../error.ts";
import type { Store } from "../store/store.ts";

/** Limits of an app. Null: no limit. */
export interface LimitSettings {
  /** Requests in a minute of the clock, polling included (section 8). */
  readonly requestsPerMinute: number | null;
  /** Uploads in a day, UTC. */
  readonly uploadsPerDay: number | null;
  /** Posts in a day, UTC. */
  readonly postsPerDay: number | null;
  /** Comments in a day, UTC. */
  readonly commentsPerDay: number | null;
  /** Direct messages in a day, UTC. */
  readonly dmsPerDay: number | null;
}

/** The rate limit, or one of the daily quotas. */
export type LimitName = keyof LimitSettings;

/** A limit for a day. */
export type Quota = Exclude<LimitName, "requestsPerMinute">;

/** The same for each limit. */
export function eachLimit<T>(value: T): { readonly [K in LimitName]: T } {
  return {
    requestsPerMinute: value,
    uploadsPerDay: value,
    postsPerDay: value,
    commentsPerDay: value,
    dmsPerDay: value,
  };
}

export const NO_LIMITS: LimitSettings = eachLimit(null);

/** The largest number of a limit. */
export const MAX_LIMIT = 1_000_000;

export const DAY_MS = 86_400_000;

/** Returns the problems of limits that were set from code, in sentences with their names. */
export function limitProblems(limits: Partial<LimitSettings>): string[] {
  return Object.entries(limits)
    .filter(([, value]) => value !== null && !isLimit(value))
    .map(([name]) => `limits.${name}: must be null or a whole number from 0 to ${MAX_LIMIT}`);
}

function isLimit(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_LIMIT;
}

/** One limit and what the app has used of it. */
export interface LimitView {
  /** Null: none. */
  readonly limit: number | null;
  /** Requests of this minute, or successful writes of this day. */
  readonly used: number;
  /** When `used` is 0 again; ISO 8601, UTC. */
  readonly resetsAt: string;
}

/** Every limit, and how much of it is used. */
export type LimitsView = Readonly<Record<LimitName, LimitView>>;

const limit = z.int().min(0).max(MAX_LIMIT).nullable().catch(null);

// An unreadable value counts as never set, because a state file may come from anywhere.
const saved: z.ZodType<LimitSettings> = z.object(eachLimit(limit)).catch(NO_LIMITS);

export interface LimitsOptions {
  readonly store: Pick<Store, "usage" | "settings">;
  readonly clock: Clock;
  /** Limits that come before those of the state. */
  readonly given: Partial<LimitSettings>;
}

/** The rate limit and the daily quotas, for each app by itself (section 8). The document shows no values. */
export class Limits {
  readonly #store: LimitsOptions["store"];
  readonly #clock: Clock;
  readonly #rate: RequestRate;
  #settings: LimitSettings;

  constructor({ store, clock, given }: LimitsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#rate = new RequestRate(clock);
    this.#settings = { ...saved.parse(store.settings.get("limits")), ...given };
    this.set({});
  }

  /** Changes the limits that are named. What is used already stays used. */
  set(change: Partial<LimitSettings>): void {
    this.#settings = { ...this.#settings, ...change };
    this.#store.settings.put("limits", this.#settings);
  }

  /**
   * Counts a request, refused ones too.
   *
   * @throws {PlatformError} 429 RATE_LIMITED with Retry-After in seconds
   */
  countRequest(bot: number): void {
    this.#rate.count(bot, this.#settings.requestsPerMinute);
  }

  /** @throws {PlatformError} 429 QUOTA_EXCEEDED with Retry-After in seconds, when the day's are used up */
  check(bot: number, quota: Quota): void {
    const limit = this.#settings[quota];
    if (limit === null || this.#used(bot, quota) < limit) return;
    const seconds = Math.ceil((this.#midnight() - this.#clock.now()) / 1000);
    const message = `${quota} is used up: ${limit} until midnight UTC.`;
    throw new PlatformError(429, "QUOTA_EXCEEDED", message, { "Retry-After": String(seconds) });
  }

  /**
   * Uses up one. Call it in the transaction that makes what is counted: what fails is not counted.
   *
   * @throws {PlatformError} 429 QUOTA_EXCEEDED
   */
  take(bot: number, quota: Quota): void {
    this.check(bot, quota);
    this.#store.usage.add(bot, quota, this.#day());
  }

  view(bot: number): LimitsView {
    const resetsAt = new Date(this.#midnight()).toISOString();
    const daily = (quota: Quota): LimitView => {
      return { limit: this.#settings[quota], used: this.#used(bot, quota), resetsAt };
    };
    const { used, resetsAt: nextMinute } = this.#rate.state(bot);
    return {
      requestsPerMinute: {
        limit: this.#settings.requestsPerMinute,
        used,
        resetsAt: new Date(nextMinute).toISOString(),
      },
      uploadsPerDay: daily("uploadsPerDay"),
      postsPerDay: daily("postsPerDay"),
      commentsPerDay: daily("commentsPerDay"),
      dmsPerDay: daily("dmsPerDay"),
    };
  }

  #used(bot: number, quota: Quota): number {
    return this.#store.usage.used(bot, quota, this.#day());
  }

  #day(): number {
    return Math.floor(this.#clock.now() / DAY_MS);
  }

  #midnight(): number {
    return (this.#day() + 1) * DAY_MS;
  }
}

const MINUTE_MS = 60_000;

/** Counts the requests of each app in the current minute. It lives in memory: a minute is soon over. */
class RequestRate {
  readonly #clock: Clock;
  readonly #used = new Map<number, number>();
  #minute = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws {PlatformError} 429 RATE_LIMITED when these are more than `limit` in this minute */
  count(bot: number, limit: number | null): void {
    const { used, resetsAt } = this.state(bot);
    this.#used.set(bot, used + 1);
    if (limit === null || used < limit) return;
    const seconds = Math.ceil((resetsAt - this.#clock.now()) / 1000);
    const message = `An app may send ${limit} requests a minute.`;
    throw new PlatformError(429, "RATE_LIMITED", message, { "Retry-After": String(seconds) });
  }

  /** `resetsAt`: milliseconds since 1970. */
  state(bot: number): { readonly used: number; readonly resetsAt: number } {
    const minute = Math.floor(this.#clock.now() / MINUTE_MS);
    if (minute !== this.#minute) this.#used.clear();
    this.#minute = minute;
    return { used: this.#used.get(bot) ?? 0, resetsAt: (minute + 1) * MINUTE_MS };
  }
}
