import { ApiError } from "../client/errors.ts";
import { type ErrorCode, ServiceBotError } from "../errors.ts";
import type { Mode } from "./mode.ts";

/** Why the log could not be read: codes alone, for the sentences of a platform may quote anything. */
export interface PollFailure {
  /** docs/errors.md has them all; INTERNAL is what has no code of ours. */
  readonly code: ErrorCode;
  /** The platform's HTTP status, where it refused the request. */
  readonly status: number | undefined;
}

/** What a poller knows of itself. Times are milliseconds since 1970 on the bot's clock. */
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
  /** Why the last read failed; undefined when it did not. */
  readonly lastPollError: PollFailure | undefined;
  /** When the last read began that came to the end of the log. */
  readonly readToEndAt: number | undefined;
}

/** What a poller remembers, for {@link PollerStatus}. */
export class PollRecord {
  #switch: Pick<PollerStatus, "modeSince" | "modeReason">;
  #lastPollAt: number | undefined;
  #lastPollError: PollFailure | undefined;
  #readToEndAt: number | undefined;

  constructor(now: number, reason: string) {
    this.#switch = { modeSince: now, modeReason: reason };
  }

  /** Goes on with what another poller remembered. */
  restore({ modeSince, modeReason, lastPollAt, lastPollError, readToEndAt }: PollerStatus): void {
    this.#switch = { modeSince, modeReason };
    this.#lastPollAt = lastPollAt;
    this.#lastPollError = lastPollError;
    this.#readToEndAt = readToEndAt;
  }

  switched(now: number, reason: string): void {
    this.#switch = { modeSince: now, modeReason: reason };
  }

  /** Why the last read failed; undefined when it did not. */
  get failure(): PollFailure | undefined {
    return this.#lastPollError;
  }

  /** A read has ended well. */
  read(now: number, { started, atEnd }: { started: number; atEnd: boolean }): void {
    this.#lastPollAt = now;
    this.#lastPollError = undefined;
    if (atEnd) this.#readToEndAt = started;
  }

  failed(now: number, error: unknown): void {
    this.#lastPollAt = now;
    this.#lastPollError = {
      code: error instanceof ServiceBotError ? error.code : "INTERNAL",
      status: error instanceof ApiError ? error.status : undefined,
    };
  }

  show(mode: Mode, cursor: string | undefined): PollerStatus {
    return {
      mode,
      ...this.#switch,
      cursor,
      lastPollAt: this.#lastPollAt,
      lastPollError: this.#lastPollError,
      readToEndAt: this.#readToEndAt,
    };
  }
}
