import { outageOf } from "../client/errors.ts";
import type { Clock } from "../core/clock.ts";
import {
  type BackoffOptions,
  backoff,
  persist,
  type Random,
  WRITE_ATTEMPTS,
} from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { type ShownError, scrubber, showError } from "../core/safe-text.ts";
import { traceIdOf } from "../core/trace.ts";
import {
  type ErrorCode,
  findCause,
  GiveUp,
  LoopHeld,
  RetryLater,
  ServiceBotError,
} from "../errors.ts";
import { placeOf } from "../events/own.ts";
import { textsOf } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Effects } from "../inbox/effects.ts";
import type { Advance, Claim, Inbox } from "../inbox/inbox.ts";
import { channels } from "../observe/channels.ts";
import type { Conflicts } from "./conflicts.ts";

/** Fate of an event after a run of its handlers. All times in milliseconds. */
export type Outcome =
  | { readonly kind: "done"; readonly effects?: Effects | undefined }
  /** Again after a while; the attempt counts. */
  | { readonly kind: "retry"; readonly delayMs: number; readonly error: unknown }
  /** Again after a while; the attempt does not count, because the event was not at fault. */
  | { readonly kind: "release"; readonly delayMs: number; readonly error: unknown }
  | DeadOutcome
  /** The handlers did not begin: the bot stops, or the type has no place left. */
  | { readonly kind: "skipped" }
  /** Another instance has the event: nothing may be written. */
  | { readonly kind: "lost" };

/** The event becomes a dead letter. */
export interface DeadOutcome {
  readonly kind: "dead";
  readonly error: unknown;
  /** Of the boundary. */
  readonly effects?: Effects | undefined;
}

/** Codes of errors that no further run mends, because the event, the handler or the platform's answer stays as it is. */
export const permanentCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  // handlers
  "REPLY_IMPOSSIBLE",
  "STEP_DUPLICATE",
  "STEP_UNCERTAIN",
  "STEP_RESULT_INVALID",
  "STATE_INVALID",
  "NEXT_CALLED_TWICE",
  "INVALID_OPTION",
  "INVALID_ID",
  "UNKNOWN_EVENT_TYPE",
  "REASON_MISSING",
  "CURSOR_INVALID",
  "ALREADY_STARTED",
  "BODY_INVALID",
  "PAYLOAD_INVALID",
  "GAVE_UP",
  // the platform's content and access
  "VALIDATION",
  "EMPTY",
  "TOO_LONG",
  "GROUP_UNSUPPORTED",
  "AGENT_SCOPE_MISSING",
  "BLOCKED",
  "NOT_FOUND",
  // images; BLOCKED_HOST and NOT_IMAGE are not among them, because a remote server may answer with a page for a while
  "TOO_LARGE",
  "TOO_MANY_IMAGES",
  "INVALID_IMAGE_KEY",
]);

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly backoff: BackoffOptions;
  readonly random: Random;
}

/** The reason with which runs are aborted when the bot stops. */
export const stopping: ServiceBotError = new ServiceBotError(
  "NOT_READY",
  "The bot is stopping. It handles the event after its next start.",
);

/** Decides what a failed run means. `attempt` is its number, from 1 up. */
export function decideOutcome(error: unknown, attempt: number, policy: RetryPolicy): Outcome {
  if (error === stopping) return { kind: "release", delayMs: 0, error };
  if (isOurs(error, "LEASE_LOST")) return { kind: "lost" };
  // Only a person can say whether it may be repeated, even if an outage was the reason.
  if (causeWith(error, "STEP_UNCERTAIN") !== undefined) return { kind: "dead", error };
  if (findCause(error, (at) => at instanceof GiveUp)) return { kind: "dead", error };
  const later = findCause(error, (at) => at instanceof RetryLater);
  if (later?.counts === false) return { kind: "release", delayMs: later.delayMs, error };
  const outage = outageOf(error);
  if (outage !== undefined || causeWith(error, "STORE_UNAVAILABLE") !== undefined) {
    // The circuit breaker's errors say when the platform is tried again; the random part keeps the lanes from coming
    // back all at once.
    const spread = backoff(policy.backoff, 1, policy.random);
    return { kind: "release", delayMs: (outage?.retryAfterMs ?? 0) + spread, error };
  }
  // A handler that asks for a later run knows better than the code of the cause.
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

/** Errors of others may have codes of the same name. */
function isOurs(error: unknown, code: ErrorCode): error is ServiceBotError {
  return error instanceof ServiceBotError && error.code === code;
}

export interface OutcomeOptions {
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly log: Logger;
  /** In ms. A claim holds this long without a sign of life. */
  readonly leaseMs: number;
  /** Takes secrets out of what is stored and logged about a failure. */
  readonly scrub: (text: string) => string;
  readonly conflicts: Conflicts;
  /** Aborts once the bot stops. */
  readonly stopping: AbortSignal;
  /** Aborts when the store is waited for no longer. */
  readonly deadline?: AbortSignal | undefined;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
}

/** A run that has ended. */
export interface EndedRun {
  readonly claim: Claim;
  /** `undefined` if the handlers did not begin. */
  readonly event: AnyEvent | undefined;
  readonly outcome: Outcome;
  /** Duration of the run. */
  readonly ms: number;
  /** Returns whether the lane may go on with its next event. Asked before each try, because its lease runs out meanwhile. */
  readonly mayContinue: () => boolean;
}

/** Characters of the error of a dead letter. */
const MAX_ERROR_CHARACTERS = 2_000;

/** A bot that stops waits no longer than this many tries take, a few seconds. */
const MAX_WRITE_ATTEMPTS_AT_THE_END = 5;

/** The form of our codes, the platform's and Node's. A handler's own may be anything. */
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

export interface RecordedOutcome {
  readonly outcome: Outcome;
  /** The claim with which the place goes on. */
  readonly next: Claim | undefined;
}

/**
 * Records the outcome of a run, and publishes it. A run whose state another run has changed meanwhile has written nothing:
 * its event is put off for a moment, and runs again.
 */
export async function recordOutcome(
  run: EndedRun,
  options: OutcomeOptions,
): Promise<RecordedOutcome> {
  const { outcome, claim, event } = run;
  const error = "error" in outcome ? shown(outcome.error, event, options.scrub) : undefined;
  const { held, next, conflict } = await write(run, error, options);
  if (conflict !== undefined) {
    const delayMs = options.conflicts.note(claim);
    return await recordOutcome(
      { ...run, outcome: { kind: "release", delayMs, error: conflict } },
      options,
    );
  }
  if (!isConflict(outcome)) options.conflicts.forget(claim);
  publish(run, held, error, options.bot);
  return { outcome, next };
}

function isConflict(outcome: Outcome): boolean {
  return "error" in outcome && isOurs(outcome.error, "STATE_CONFLICT");
}

interface Written extends Advance {
  /** Set if nothing was written, because a state was changed since the run has read it. */
  readonly conflict?: ServiceBotError;
}

/**
 * Writes with patience. After the last try the lease is left to run out: then the event is handled again, and its lane
 * stands still until then. Its steps are recorded and not repeated.
 */
async function write(
  { claim, outcome, mayContinue }: EndedRun,
  error: ShownError | undefined,
  { inbox, clock, log, leaseMs, stopping, deadline }: OutcomeOptions,
): Promise<Written> {
  if (outcome.kind === "lost") return { held: false };
  const text = "error" in outcome && error ? errorText(outcome.error, error) : "";
  return await persist(
    async () => {
      try {
        if (outcome.kind === "done" && mayContinue()) {
          return await inbox.advance(claim, outcome.effects, leaseMs);
        }
        return { held: await end(inbox, claim, outcome, text) };
      } catch (conflict) {
        if (isOurs(conflict, "STATE_CONFLICT")) return { held: true, conflict };
        throw conflict;
      }
    },
    {
      clock,
      signal: deadline,
      tries: () => (stopping.aborted ? MAX_WRITE_ATTEMPTS_AT_THE_END : WRITE_ATTEMPTS),
      failed: (err) => {
        log.error(
          { err, event: claim.id, trace: traceIdOf(claim.trace) },
          "could not record the outcome of a run",
        );
      },
    },
  );
}

function end(
  inbox: Inbox,
  claim: Claim,
  outcome: Exclude<Outcome, { readonly kind: "lost" }>,
  error: string,
): Promise<boolean> {
  switch (outcome.kind) {
    case "done":
      return inbox.complete(claim, outcome.effects);
    case "retry":
      return inbox.retry(claim, outcome.delayMs, error);
    case "skipped":
      return inbox.release(claim, 0);
    case "release":
      return inbox.release(claim, outcome.delayMs, error);
    case "dead":
      return inbox.bury(claim, error, outcome.effects);
  }
}

function publish(
  { claim, event: handled, outcome, ms }: EndedRun,
  held: boolean,
  error: ShownError | undefined,
  bot: object | undefined,
): void {
  const { id: event, type, lane, attempt } = claim;
  channels.run.publish({
    bot,
    ...{ event, type, lane, attempt, trace: traceIdOf(claim.trace) },
    outcome: held ? outcome.kind : "lost",
    ms,
    retryInMs: "delayMs" in outcome ? outcome.delayMs : undefined,
    error,
    ...placeOf(handled?.payload ?? {}),
    isLoopHeld: "error" in outcome && outcome.error instanceof LoopHeld,
  });
  if (held) return;
  channels["lease-lost"].publish({ bot, what: outcome.kind === "lost" ? "run" : "result" });
}

/** Errors of handlers quote what people wrote, which neither a log nor a dead letter may show. */
export function shown(
  error: unknown,
  event: AnyEvent | undefined,
  scrub: OutcomeOptions["scrub"],
): ShownError {
  const hide = scrubber(event === undefined ? [] : textsOf(event));
  return showError(error, (text) => hide(scrub(text)));
}

/** The text of a dead letter. `service-bot inbox` finds events that died of one cause by its class and code. */
function errorText(error: unknown, { type, code = "", message }: ShownError): string {
  // The name of these two errors says their code already.
  const isNamed = error instanceof GiveUp || error instanceof RetryLater;
  const what = !isNamed && CODE.test(code) ? `${type} ${code}` : type;
  return `${what}: ${message}`.slice(0, MAX_ERROR_CHARACTERS);
}
