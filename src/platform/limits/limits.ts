import type { Clock } from "../../core/clock.ts";
import { PlatformError } from "../error.ts";
import type { Usage } from "../store/usage.ts";
import { RequestRate } from "./request-rate.ts";
import { DAY_MS, type LimitName, type LimitSettings, NO_LIMITS, type Quota } from "./settings.ts";

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

export interface LimitsOptions {
  readonly usage: Usage;
  readonly clock: Clock;
}

/** The rate limit and the daily quotas, for each app by itself (section 8). The values are not shown. */
export class Limits {
  readonly #usage: Usage;
  readonly #clock: Clock;
  readonly #rate: RequestRate;
  #settings: LimitSettings = NO_LIMITS;

  constructor({ usage, clock }: LimitsOptions) {
    this.#usage = usage;
    this.#clock = clock;
    this.#rate = new RequestRate(clock);
  }

  get settings(): LimitSettings {
    return this.#settings;
  }

  /** Changes the limits that are named. What is used already stays used. */
  set(change: Partial<LimitSettings>): void {
    this.#settings = { ...this.#settings, ...change };
  }

  /** Sets all limits, and counts the requests of this minute anew: the apps may be others than before. */
  reset(settings: LimitSettings): void {
    this.#settings = settings;
    this.#rate.reset();
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
    this.#usage.add(bot, quota, this.#day());
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
    return this.#usage.used(bot, quota, this.#day());
  }

  #day(): number {
    return Math.floor(this.#clock.now() / DAY_MS);
  }

  #midnight(): number {
    return (this.#day() + 1) * DAY_MS;
  }
}
