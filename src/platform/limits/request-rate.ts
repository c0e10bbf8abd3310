import type { Clock } from "../../core/clock.ts";
import { PlatformError } from "../error.ts";

const MINUTE_MS = 60_000;

/** Counts the requests of each app in the current minute. It lives in memory: a minute is soon over. */
export class RequestRate {
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
