import type { Clock } from "../core/clock.ts";
import { ApiError, apiErrorOf, isUnexplained } from "./errors.ts";

/**
 * Operation that distinguishes a refused app from a refused request. It only reads the bot's own conversations. A
 * missing scope has its own code there (section 5 of the platform document, rule 4), so any other 403 concerns the app.
 */
const PROBE = "GET /dm/conversations";

/**
 * How long the last accepted probe is valid, in ms. Long enough for one probe to serve a burst of refused requests.
 * Short enough that few events use up an attempt after an app is disabled.
 */
const ACCEPTED_FOR_MS = 5_000;

/** Returns the error, or a refusal of the app if the refused request is the probe itself. */
export function withTokenRefused(error: ApiError, operation: string): ApiError {
  return operation === PROBE && isUnexplained(error) ? refused(error) : error;
}

/**
 * Determines whether a 403 without a code from section 7 of the platform document concerns one request or the whole
 * app.
 */
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

  /** Returns the error itself, or a copy that refuses the app. Never rejects. */
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
  return apiErrorOf(`${message} The platform refuses the whole app.`, {
    ...{ status, platformCode, requestId },
    refusesToken: true,
  });
}
