import { outageOf } from "../client/errors.ts";
import { type BackoffOptions, backoff, type Random } from "../core/backoff.ts";
import { findCause, GiveUp, RetryLater, ServiceBotError } from "../errors.ts";
import { isPermanent } from "./permanence.ts";

/** What happens to an event after a run of its handler. All times in milliseconds. */
export type Verdict =
  | { readonly kind: "done" }
  /** Again after a while; the attempt counts. */
  | { readonly kind: "retry"; readonly delayMs: number; readonly error: unknown }
  /** Again after a while; the attempt does not count, for it was not the event's fault. */
  | { readonly kind: "release"; readonly delayMs: number; readonly error: unknown }
  | { readonly kind: "dead"; readonly error: unknown }
  /** The handler has not begun, and does not: the bot stops. */
  | { readonly kind: "unbegun" }
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

/** Decides what a failed run means. `attempt` is its number, from 1 up. */
export function judge(error: unknown, attempt: number, policy: RetryPolicy): Verdict {
  if (error === stopping) return { kind: "release", delayMs: 0, error };
  if (codeOf(error) === "LEASE_LOST") return { kind: "lost" };
  // Nobody but a person can say whether it may be repeated, also where an outage was the reason.
  if (findCause(error, isUncertain) !== undefined) return { kind: "dead", error };
  if (findCause(error, (at) => at instanceof GiveUp)) return { kind: "dead", error };
  const later = findCause(error, (at) => at instanceof RetryLater);
  if (later?.counts === false) return { kind: "release", delayMs: later.delayMs, error };
  const outage = outageOf(error);
  if (outage !== undefined) {
    // The wait grows with the circuit breaker, whose errors say when the platform is tried again; the
    // random part keeps the lanes from coming back all at once.
    const spread = backoff(policy.backoff, 1, policy.random);
    return { kind: "release", delayMs: (outage.retryAfterMs ?? 0) + spread, error };
  }
  // A full disk fails every step, and is no more the event's fault than the platform's silence.
  if (findCause(error, isStoreAway) !== undefined) {
    return { kind: "release", delayMs: backoff(policy.backoff, 1, policy.random), error };
  }
  // A handler that asks for a later run knows better than the code of the cause.
  if (later === undefined && isPermanent(error)) return { kind: "dead", error };
  if (attempt >= policy.maxAttempts) return { kind: "dead", error };
  const delayMs = later?.delayMs ?? backoff(policy.backoff, attempt, policy.random);
  return { kind: "retry", delayMs, error };
}

function isUncertain(error: unknown): error is ServiceBotError {
  return codeOf(error) === "STEP_UNCERTAIN";
}

function isStoreAway(error: unknown): error is ServiceBotError {
  return codeOf(error) === "STORE_UNAVAILABLE";
}

function codeOf(error: unknown): string | undefined {
  return error instanceof ServiceBotError ? error.code : undefined;
}
