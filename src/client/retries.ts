import { type BackoffOptions, backoff, type Random } from "../core/clock.ts";
import { ApiError, NetworkError } from "./errors.ts";
import type { Method } from "./request.ts";

/** In ms. Waits between two tries of one call, which has a deadline and a caller that waits. */
const WAITS: BackoffOptions = { baseMs: 300, maxMs: 5_000, factor: 3 };

/** Codes of section 7 that a moment does not mend: quotas last for the day, and people set up storage. */
const lasting: ReadonlySet<string> = new Set(["QUOTA_EXCEEDED", "NOT_CONFIGURED"]);

/**
 * Returns after how many ms a request may be repeated, at least as long as the platform asks for. `undefined` if it must not
 * be repeated.
 *
 * @param number tries so far, from 1 up
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
 * Returns whether a request may be repeated. Reads always may. Writes may only if it is certain that nothing
 * has happened: the connection was never made, or the answer says so (429, and a 503 of the platform's own).
 */
function mayRepeat(method: Method, error: unknown): boolean {
  if (error instanceof NetworkError) {
    return error.code === "API_UNREACHABLE" && (method === "GET" || !error.sent);
  }
  if (!(error instanceof ApiError) || lasting.has(error.code)) return false;
  if (method === "GET") return error.retryable;
  return error.saysNothingHappened && (error.status === 429 || error.status === 503);
}
