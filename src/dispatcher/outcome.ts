import { outageOf } from "../client/errors.ts";
import { type BackoffOptions, backoff, type Random } from "../core/clock.ts";
import {
  type ErrorCode,
  findCause,
  GiveUp,
  RetryLater,
  ServiceBotError,
  tryRead,
} from "../errors.ts";
import type { Effects } from "../inbox/effects.ts";
import type { SkipReason } from "../inbox/event-records.ts";
import type { HeldResult } from "../steps/held-result.ts";
import { stopping } from "./abort.ts";

/** Outcome of handling a claimed event. All times are in ms. */
export type Outcome =
  | {
      readonly kind: "done";
      readonly effects?: Effects | undefined;
      /** Result of a step that is not recorded yet. */
      readonly held?: HeldResult | undefined;
      /** Reason why no handler ran. */
      readonly skipped?: SkipReason | undefined;
    }
  /** The event is retried later, and the attempt counts. */
  | { readonly kind: "retry"; readonly delayMs: number; readonly error: unknown }
  /** The event is retried later. The attempt does not count, because the event did not cause the failure. */
  | { readonly kind: "release"; readonly delayMs: number; readonly error: unknown }
  | DeadOutcome
  /** The handlers did not start, because the bot is stopping or the type has no free slot. */
  | { readonly kind: "skipped" }
  /** Another instance has the event, so nothing may be written. */
  | { readonly kind: "lost" };

/** The event becomes a dead letter. */
export interface DeadOutcome {
  readonly kind: "dead";
  readonly error: unknown;
  /** Effects of the boundary. */
  readonly effects?: Effects | undefined;
  /** Result of one of its steps that is not recorded yet. */
  readonly held?: HeldResult | undefined;
}

/**
 * Codes of errors that a retry cannot fix, because the event, the handler or the platform's response stays the same.
 */
export const permanentCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  // handlers
  "REPLY_IMPOSSIBLE",
  "STEP_DUPLICATE",
  "STEP_UNCERTAIN",
  "STEP_RESULT_INVALID",
  "STATE_INVALID",
  "RUN_TOO_LARGE",
  "NEXT_CALLED_TWICE",
  "INVALID_OPTION",
  "INVALID_ID",
  "UNKNOWN_EVENT_TYPE",
  "REASON_MISSING",
  "CURSOR_INVALID",
  "ALREADY_STARTED",
  "BODY_INVALID",
  "PAYLOAD_INVALID",
  "PATTERN_TIMEOUT",
  "GAVE_UP",
  // the platform's content and access
  "VALIDATION",
  "EMPTY",
  "TOO_LONG",
  "GROUP_UNSUPPORTED",
  "AGENT_SCOPE_MISSING",
  "BLOCKED",
  "NOT_FOUND",
  // images; without BLOCKED_HOST and NOT_IMAGE, because a remote server may temporarily answer with a page
  "TOO_LARGE",
  "TOO_MANY_IMAGES",
  "INVALID_IMAGE_KEY",
]);

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly backoff: BackoffOptions;
  readonly random: Random;
}

/** Decides the outcome of a failed run. @param attempt number of the run, starting at 1 */
export function decideOutcome(error: unknown, attempt: number, policy: RetryPolicy): Outcome {
  if (error === stopping) return { kind: "release", delayMs: 0, error };
  if (isOurs(error, "LEASE_LOST")) return { kind: "lost" };
  // Only a person can decide whether to repeat the step, even if an outage was the cause.
  if (causeWith(error, "STEP_UNCERTAIN") !== undefined) return { kind: "dead", error };
  if (findCause(error, (at) => at instanceof GiveUp)) return { kind: "dead", error };
  const later = findCause(error, (at) => at instanceof RetryLater);
  if (later?.counts === false) return { kind: "release", delayMs: later.delayMs, error };
  const outage = outageOf(error);
  if (outage !== undefined || causeWith(error, "STORE_UNAVAILABLE") !== undefined) {
    // The circuit breaker's error contains the time at which to try the platform again. Jitter keeps the lanes from all
    // retrying at once.
    const spread = backoff(policy.backoff, 1, policy.random);
    return { kind: "release", delayMs: (outage?.retryAfterMs ?? 0) + spread, error };
  }
  // A handler's request for a later run takes precedence over the cause's code.
  if (later === undefined && findCause(error, isPermanent)) return { kind: "dead", error };
  if (attempt >= policy.maxAttempts) return { kind: "dead", error };
  const delayMs = later?.delayMs ?? backoff(policy.backoff, attempt, policy.random);
  return { kind: "retry", delayMs, error };
}

function isPermanent(error: unknown): error is ServiceBotError {
  return error instanceof ServiceBotError && permanentCodes.has(error.code);
}

function causeWith(error: unknown, code: ErrorCode): Error | undefined {
  return findCause(error, (at) => isOurs(at, code));
}

/** Returns whether service-bot made the error, because errors of other libraries may use the same codes. */
export function isOurs(error: unknown, code: ErrorCode): error is ServiceBotError {
  return tryRead(() => error instanceof ServiceBotError && error.code === code) === true;
}
