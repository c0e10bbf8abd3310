import type { Clock } from "../../core/clock.ts";
import * as z from "../../core/zod.ts";
import { PlatformError } from "../error.ts";
import type { Store } from "../store/store.ts";
import {
  DAY_MS,
  eachLimit,
  type LimitName,
  type LimitSettings,
  MAX_LIMIT,
  NO_LIMITS,
  type Quota,
} from "./settings.ts";

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
