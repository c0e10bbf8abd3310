import { type BackoffOptions, backoff, type Random } from "../core/clock.ts";
import { ApiError, isLasting, NetworkError } from "./errors.ts";
import type { Method } from "./request.ts";

/** Waits between attempts of one call, in ms. Short, because a call has a deadline and a waiting caller. */
const WAITS: BackoffOptions = { baseMs: 300, maxMs: 5_000, factor: 3 };

/**
 * Returns the wait before a retry, in ms, at least as long as the platform requests. Returns `undefined` if the request
 * must not be retried.
 *
 * @param number attempts made so far, starting at 1
 */
export function retryInMs(
  method: Method,
  error: unknown,
  number: number,
  random: Random,
): number | undefined {
  if (!mayRepeat(method, error)) return undefined;
  const requested = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(requested, backoff(WAITS, number, random));
}

/**
 * Returns whether a request may be retried. A read may always be retried, a write only if it definitely had no effect,
 * because no connection was made or the response guarantees it (429, or a 503 from the platform itself).
 */
function mayRepeat(method: Method, error: unknown): boolean {
  if (error instanceof NetworkError) {
    return error.code === "API_UNREACHABLE" && (method === "GET" || !error.sent);
  }
  if (!(error instanceof ApiError) || isLasting(error)) return false;
  if (method === "GET") return error.retryable;
  return error.saysNothingHappened && (error.status === 429 || error.status === 503);
}
