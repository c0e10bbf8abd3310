import { ApiError, outageOf } from "../client/errors.ts";
import { backoff, type Random } from "../core/backoff.ts";
import type { Logger } from "../core/logger.ts";
import type { Mode } from "./mode.ts";

export interface HealthOptions {
  readonly log: Logger;
  readonly delivery: "auto" | "polling";
  readonly pollIntervalMs: number;
  readonly random?: Random;
}

/** The longest pause after failures in a row, and that after a missing scope, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

const NO_END =
  "the event log goes on and on without events: its cursor moves, and nothing comes; it is read at the audit interval";

const NO_SCOPE =
  "the token may not read the event log: give it the scope read, dm or both in the developer portal";

/** Tells how the reading of the log goes, each change once, and how long to wait after a failure. */
export class Health {
  readonly #options: HealthOptions;
  #failures = 0;
  /** How the log failed to be read, as it was last told; undefined while it can be read. */
  #told: string | undefined;
  #reachesEnd = true;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  succeeded(atEnd: boolean): void {
    const { log } = this.#options;
    if (this.#failures > 0) log.info("the event log can be read again");
    this.#failures = 0;
    this.#told = undefined;
    if (this.#reachesEnd && !atEnd) log.warn(NO_END);
    this.#reachesEnd = atEnd;
  }

  /** Logs a failed round; returns how long to wait before the next one, in milliseconds. */
  failed(err: unknown, mode: Mode): number {
    const { log, pollIntervalMs, random } = this.#options;
    this.#failures += 1;
    // A token that is refused as a whole is an outage, and the client has logged it.
    if (err instanceof ApiError && err.status === 403 && !err.refusesToken) {
      const fields = { err, retryInMs: MAX_PAUSE_MS, meanwhile: this.#meanwhile(mode) };
      if (this.#isNews("scope")) log.error(fields, NO_SCOPE);
      return MAX_PAUSE_MS;
    }
    const policy = { baseMs: pollIntervalMs, maxMs: MAX_PAUSE_MS, factor: 2 };
    const asked = outageOf(err)?.retryAfterMs ?? 0;
    const retryInMs = Math.max(asked, pollIntervalMs, backoff(policy, this.#failures, random));
    const level = this.#isNews("unreadable") ? "warn" : "debug";
    log[level]({ err, retryInMs }, "the event log cannot be read");
    return retryInMs;
  }

  /** Whether the log fails in another way than the last time: what is known is not told again. */
  #isNews(failure: string): boolean {
    const isNews = this.#told !== failure;
    this.#told = failure;
    return isNews;
  }

  #meanwhile(mode: Mode): string {
    if (this.#options.delivery === "polling") return "no event arrives until then";
    return mode === "auditing"
      ? "webhook deliveries go on, but what the webhook loses is not found"
      : "no event arrives until then, except what the webhook brings";
  }
}
