import type { Clock } from "../core/clock.ts";
import { ApiError, apiErrorOf, isUnexplained } from "./errors.ts";

/**
 * Operation that shows whether the whole app is rejected. It only reads the bot's own conversations, where a missing
 * scope has its own code (section 5 of the platform document, rule 4). Any other 403 therefore concerns the app.
 */
const PROBE = "GET /dm/conversations";

/**
 * How long an accepted probe remains valid, in ms. Long enough for one probe to serve a burst of rejected requests.
 * Short enough that few events use up an attempt after an app is disabled.
 */
const ACCEPTED_FOR_MS = 5_000;

/** Returns the error, or a copy that marks the app as rejected if the request was the probe itself. */
export function withTokenRefused(error: ApiError, operation: string): ApiError {
  return operation === PROBE && isUnexplained(error) ? refused(error) : error;
}

/** Determines whether a 403 without a documented code concerns a single request or the whole app. */
export class TokenProbe {
  readonly #clock: Clock;
  readonly #readConversations: (signal: AbortSignal) => Promise<unknown>;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<boolean> | undefined;

  /** @param readConversations sends the probe, which reads one of the bot's conversations */
  constructor(clock: Clock, readConversations: (signal: AbortSignal) => Promise<unknown>) {
    this.#clock = clock;
    this.#readConversations = readConversations;
  }

  /** Returns the error itself, or a copy that marks the app as rejected. Never rejects. */
  async explain(error: unknown, signal: AbortSignal): Promise<unknown> {
    if (!isUnexplained(error)) {
      if (error instanceof ApiError && error.refusesToken) {
        this.#acceptedAt = Number.NEGATIVE_INFINITY;
      }
      return error;
    }
    if (this.#clock.now() - this.#acceptedAt < ACCEPTED_FOR_MS) return error;
    this.#asking ??= this.#isRefused(signal).finally(() => {
      this.#asking = undefined;
    });
    return (await this.#asking) ? refused(error) : error;
  }

  async #isRefused(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#readConversations(signal);
    } catch (error) {
      if (!(error instanceof ApiError)) return false;
      if (error.refusesToken) return true;
      if (error.retryable) return false;
    }
    this.#acceptedAt = this.#clock.now();
    return false;
  }
}

function refused(error: ApiError): ApiError {
  const { message, status, platformCode, requestId } = error;
  return apiErrorOf(`${message} The platform rejects the whole app.`, {
    status,
    platformCode,
    requestId,
    refusesToken: true,
  });
}
