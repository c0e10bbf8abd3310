import pRetry from "p-retry";
import { type BackoffOptions, backoff, type Random } from "../core/backoff.ts";
import { type Clock, sleep } from "../core/clock.ts";
import { ApiError, NetworkError } from "./errors.ts";

/** Between two tries of one call: it has a deadline, and somebody waits for it. In milliseconds. */
const WAITS: BackoffOptions = { baseMs: 300, maxMs: 5_000, factor: 3 };

/** Quotas last for the day, and storage is set up by people: codes of section 7 that a moment does not mend. */
const lasting: ReadonlySet<string> = new Set(["QUOTA_EXCEEDED", "NOT_CONFIGURED"]);

export interface RetryOptions {
  readonly method: "GET" | "POST";
  /** After the first try. */
  readonly retries: number;
  readonly clock: Clock;
  readonly random: Random;
  /** When the call must be over, in ms since 1970: no try begins after that. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/**
 * Tries again what may be tried again, within the deadline of the call. It waits as long as the platform asks
 * for, and gives up at once where that is too long. The loop is p-retry's rather than one inside a library around
 * `fetch`: the budget, the breaker and our clock act on each try, and no copy of a body is made for a try that
 * may not come.
 *
 * What it cannot know of: Node's `fetch` itself repeats a request that was answered with 421.
 *
 * @throws what the last try threw; the reason of the signal when it aborts during a wait
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  { method, retries, clock, random, endsAt, signal }: RetryOptions,
): Promise<T> {
  return await pRetry(attempt, {
    retries,
    // The waiting is done below, on our clock.
    minTimeout: 0,
    shouldRetry: async ({ error, attemptNumber }) => {
      if (!mayRepeat(method, error)) return false;
      const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      const waitMs = Math.max(asked, backoff(WAITS, attemptNumber, random));
      if (clock.now() + waitMs >= endsAt) return false;
      await sleep(clock, waitMs, signal);
      signal.throwIfAborted();
      return true;
    },
  });
}

/**
 * Reads may be repeated whatever became of them. Writes only where it is certain that nothing has happened: the
 * connection was never made, or the answer says so (429, and a 503 of the platform's own).
 */
export function mayRepeat(method: "GET" | "POST", error: unknown): boolean {
  if (error instanceof NetworkError) {
    return error.code === "API_UNREACHABLE" && (method === "GET" || !error.sent);
  }
  if (!(error instanceof ApiError) || lasting.has(error.code)) return false;
  if (method === "GET") return error.retryable;
  return error.saysNothingHappened && (error.status === 429 || error.status === 503);
}
