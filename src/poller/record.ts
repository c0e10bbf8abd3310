import { ApiError, outageOf } from "../client/errors.ts";
import type { Clock } from "../core/clock.ts";
import { backoff, type Random } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { type ErrorCode, ServiceBotError } from "../errors.ts";
import type { Mode } from "./mode.ts";

/** Why the log could not be read. Codes alone, because messages of a platform may quote anything. */
export interface PollFailure {
  /** docs/errors.md has them all; INTERNAL is an error without a code of ours. */
  readonly code: ErrorCode;
  /** The platform's HTTP status if it refused the request. */
  readonly status: number | undefined;
}

/** State of a poller. Times are milliseconds since 1970 on the bot's clock. */
export interface PollerStatus {
  readonly mode: Mode;
  /** When the mode began: with the last switch, or with the start. */
  readonly modeSince: number;
  /** The reason of the last switch; before the first one, that the bot has started. */
  readonly modeReason: string;
  /**
   * The stored position in the log: nothing before it is missing from the inbox. It stays about a minute
   * behind the present. Undefined before the first read, while the log is empty, and while the platform refuses it.
   */
  readonly cursor: string | undefined;
  /** When the last read of the log ended, well or not. */
  readonly lastPollAt: number | undefined;
  /** Why the last read failed; undefined if it succeeded. */
  readonly lastPollError: PollFailure | undefined;
  /** When the last read began that came to the end of the log. */
  readonly readToEndAt: number | undefined;
}

export interface PollRecordOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly delivery: "auto" | "polling";
  readonly pollIntervalMs: number;
  readonly random?: Random;
}

/** In ms. Longest pause after failures in a row, and the pause after a missing scope. */
const MAX_PAUSE_MS = 60_000;

const NO_END =
  "the event log goes on and on without events: its cursor moves, and nothing comes; it is read at the audit interval";

const NO_SCOPE =
  "the token may not read the event log: give it the scope read, dm or both in the developer portal";

/** Records how the reading of the log goes, logs each change once, and spaces retries. */
export class PollRecord {
  readonly #options: PollRecordOptions;
  #status: Omit<PollerStatus, "mode">;
  #failures = 0;
  /** Kind of the failure that was logged last; undefined while the log can be read. */
  #loggedFailure: string | undefined;
  #reachesEnd = true;

  constructor(options: PollRecordOptions) {
    this.#options = options;
    this.#status = {
      modeSince: options.clock.now(),
      modeReason: options.delivery === "polling" ? "DELIVERY=polling" : "the bot has started",
      cursor: undefined,
      lastPollAt: undefined,
      lastPollError: undefined,
      readToEndAt: undefined,
    };
  }

  /** The status; its cursor is that of the last {@link restore}. */
  get status(): Omit<PollerStatus, "mode"> {
    return this.#status;
  }

  /** Takes over the status of another poller. */
  restore(status: PollerStatus): void {
    this.#status = status;
  }

  /** The reading of the log is over for now, up to this position. */
  leaveAt(cursor: string | undefined): void {
    this.#status = { ...this.#status, cursor };
  }

  switched(modeReason: string): void {
    this.#status = { ...this.#status, modeSince: this.#options.clock.now(), modeReason };
  }

  /** @param startedAt when the read began */
  succeeded(startedAt: number, atEnd: boolean): void {
    const { clock, log } = this.#options;
    this.#status = {
      ...this.#status,
      lastPollAt: clock.now(),
      lastPollError: undefined,
      ...(atEnd && { readToEndAt: startedAt }),
    };
    if (this.#failures > 0) log.info("the event log can be read again");
    this.#failures = 0;
    this.#loggedFailure = undefined;
    if (this.#reachesEnd && !atEnd) log.warn(NO_END);
    this.#reachesEnd = atEnd;
  }

  /** Records a failed round. Returns the pause before the next one, in ms. */
  failed(err: unknown, mode: Mode): number {
    const { clock, log, pollIntervalMs, random } = this.#options;
    const code = err instanceof ServiceBotError ? err.code : "INTERNAL";
    const status = err instanceof ApiError ? err.status : undefined;
    this.#status = {
      ...this.#status,
      lastPollAt: clock.now(),
      lastPollError: { code, status },
    };
    this.#failures += 1;
    // The client has logged a token that is refused as a whole; it counts as an outage.
    if (err instanceof ApiError && err.status === 403 && !err.refusesToken) {
      const fields = { err, retryInMs: MAX_PAUSE_MS, meanwhile: this.#meanwhile(mode) };
      if (this.#isNews("scope")) log.error(fields, NO_SCOPE);
      return MAX_PAUSE_MS;
    }
    const policy = { baseMs: pollIntervalMs, maxMs: MAX_PAUSE_MS, factor: 2 };
    const requestedMs = outageOf(err)?.retryAfterMs ?? 0;
    const waitMs = backoff(policy, this.#failures, random);
    const retryInMs = Math.max(requestedMs, pollIntervalMs, waitMs);
    const level = this.#isNews("unreadable") ? "warn" : "debug";
    log[level]({ err, retryInMs }, "the event log cannot be read");
    return retryInMs;
  }

  #isNews(failure: string): boolean {
    const isNews = this.#loggedFailure !== failure;
    this.#loggedFailure = failure;
    return isNews;
  }

  #meanwhile(mode: Mode): string {
    if (this.#options.delivery === "polling") return "no event arrives until then";
    return mode === "auditing"
      ? "webhook deliveries go on, but what the webhook loses is not found"
      : "no event arrives until then, except what the webhook brings";
  }
}
