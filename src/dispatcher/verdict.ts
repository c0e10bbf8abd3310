import { type BackoffOptions, backoff, type Random } from "../core/backoff.ts";
import { ApiError, NetworkError, ServiceBotError } from "../errors.ts";

/** What happens to an event after a run of its handler. All times in milliseconds. */
export type Verdict =
  | { readonly kind: "done" }
  /** Again after a while; the attempt counts. */
  | { readonly kind: "retry"; readonly delayMs: number; readonly error: unknown }
  /** Again after a while; the attempt does not count, for it was not the event's fault. */
  | { readonly kind: "release"; readonly delayMs: number; readonly error: unknown }
  | { readonly kind: "dead"; readonly error: unknown }
  /** Somebody else has the event: nothing may be written. */
  | { readonly kind: "lost" };

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly backoff: BackoffOptions;
  readonly random: Random;
}

/** The reason with which runs are aborted when the bot stops. */
export const stopping: ServiceBotError = new ServiceBotError(
  "NOT_READY",
  "The bot is stopping; the event is handled after the next start.",
);

/**
 * Decides what a failed run means.
 *
 * @param outages how many runs in a row failed because the platform could not be reached
 */
export function judge(
  error: unknown,
  attempt: number,
  outages: number,
  policy: RetryPolicy,
): Verdict {
  if (error === stopping) return { kind: "release", delayMs: 0, error };
  if (codeOf(error) === "LEASE_LOST") return { kind: "lost" };
  // Nobody but a person can say whether it may be repeated.
  if (codeOf(error) === "STEP_UNCERTAIN") return { kind: "dead", error };
  const outage = findOutage(error);
  if (outage !== undefined) {
    const asked = outage instanceof ApiError ? (outage.retryAfterMs ?? 0) : 0;
    const delayMs = Math.max(asked, backoff(policy.backoff, outages + 1, policy.random));
    return { kind: "release", delayMs, error };
  }
  if (attempt >= policy.maxAttempts) return { kind: "dead", error };
  return { kind: "retry", delayMs: backoff(policy.backoff, attempt, policy.random), error };
}

/** Statuses that speak of the platform's state, not of the request. */
const outageStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The outage of the platform behind an error, also where a handler wrapped it as a cause. */
function findOutage(error: unknown): ApiError | NetworkError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof NetworkError) return at;
    if (at instanceof ApiError && outageStatuses.has(at.status)) return at;
  }
  return undefined;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof ServiceBotError ? error.code : undefined;
}
