import * as z from "zod";
import type { Clock } from "../core/clock.ts";
import { PlatformError } from "./error.ts";
import type { Store } from "./store/store.ts";

/** An app's limits. `null` means unlimited. */
export interface LimitSettings {
  /** Requests per clock minute, including polling (section 8 of the platform document). */
  readonly requestsPerMinute: number | null;
  /** Uploads per day, UTC. */
  readonly uploadsPerDay: number | null;
  /** Posts per day, UTC. */
  readonly postsPerDay: number | null;
  /** Comments per day, UTC. */
  readonly commentsPerDay: number | null;
  /** Direct messages per day, UTC. */
  readonly dmsPerDay: number | null;
}

/** The rate limit, or a daily quota. */
export type LimitName = keyof LimitSettings;

export type Quota = Exclude<LimitName, "requestsPerMinute">;

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

export const MAX_LIMIT = 1_000_000;

const DAY_MS = 86_400_000;

export function limitProblems(limits: Partial<LimitSettings>): string[] {
  return Object.entries(limits)
    .filter(([, value]) => value !== null && !isLimit(value))
    .map(([name]) => `limits.${name}: must be null or a whole number from 0 to ${MAX_LIMIT}`);
}

function isLimit(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_LIMIT;
}

/** A limit and the app's usage. */
export interface LimitView {
  /** `null` if unlimited. */
  readonly limit: number | null;
  /** Requests this minute, or successful writes today. */
  readonly used: number;
  /** Time at which `used` next becomes 0. ISO 8601, UTC. */
  readonly resetsAt: string;
}

/** Every limit with its usage. */
export type LimitsView = Readonly<Record<LimitName, LimitView>>;

const limit = z.int().min(0).max(MAX_LIMIT).nullable();

export const limitsChange: z.ZodType<Partial<LimitSettings>> = z.strictObject(
  eachLimit(limit.exactOptional()),
);

// Treat an unreadable value as unset, because a user may load any state file.
const saved: z.ZodType<LimitSettings> = z.object(eachLimit(limit.catch(null))).catch(NO_LIMITS);

export interface LimitsOptions {
  readonly store: Pick<Store, "usage" | "settings">;
  readonly clock: Clock;
  readonly given: Partial<LimitSettings>;
}

/** Rate limit and daily quotas, counted per app. The platform document does not specify their values (section 8). */
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

  /** Changes the given limits. Earlier usage still counts. */
  set(change: Partial<LimitSettings>): void {
    this.#settings = { ...this.#settings, ...change };
    this.#store.settings.put("limits", this.#settings);
  }

  /**
   * Counts a request, even one that is then rejected.
   *
   * @throws {PlatformError} 429 RATE_LIMITED with Retry-After in seconds
   */
  countRequest(bot: number): void {
    this.#rate.count(bot, this.#settings.requestsPerMinute);
  }

  /** @throws {PlatformError} 429 QUOTA_EXCEEDED with Retry-After in seconds, if the quota is used up */
  check(bot: number, quota: Quota): void {
    const limit = this.#settings[quota];
    if (limit === null || this.#used(bot, quota) < limit) return;
    const seconds = Math.ceil((this.#midnight() - this.#clock.now()) / 1000);
    const message = `The ${quota} quota of ${limit} is used up until midnight UTC.`;
    throw new PlatformError(429, "QUOTA_EXCEEDED", message, { "Retry-After": String(seconds) });
  }

  /**
   * Counts one write. Must run in the write's transaction, so that a failed write does not count.
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

/**
 * Counts each app's requests in the current minute. The counts are kept in memory, because losing them on a restart is
 * harmless.
 */
class RequestRate {
  readonly #clock: Clock;
  readonly #used = new Map<number, number>();
  #minute = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws {PlatformError} 429 RATE_LIMITED after `limit` requests in this minute */
  count(bot: number, limit: number | null): void {
    const { used, resetsAt } = this.state(bot);
    this.#used.set(bot, used + 1);
    if (limit === null || used < limit) return;
    const seconds = Math.ceil((resetsAt - this.#clock.now()) / 1000);
    const message = `The app may send only ${limit} requests per minute.`;
    throw new PlatformError(429, "RATE_LIMITED", message, { "Retry-After": String(seconds) });
  }

  /** `resetsAt` is in ms since 1970. */
  state(bot: number): { readonly used: number; readonly resetsAt: number } {
    const minute = Math.floor(this.#clock.now() / MINUTE_MS);
    if (minute !== this.#minute) this.#used.clear();
    this.#minute = minute;
    return { used: this.#used.get(bot) ?? 0, resetsAt: (minute + 1) * MINUTE_MS };
  }
}
