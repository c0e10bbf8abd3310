import { outageOf } from "../client/errors.ts";
import type { Clock } from "../core/clock.ts";
import {
  type BackoffOptions,
  backoff,
  type Patience,
  persist,
  type Random,
  WRITE_ATTEMPTS,
} from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { type ShownError, showError } from "../core/safe-text.ts";
import { traceIdOf } from "../core/trace.ts";
import {
  type ErrorCode,
  findCause,
  GiveUp,
  isError,
  LoopHeld,
  RetryLater,
  ServiceBotError,
  tryRead,
} from "../errors.ts";
import { placeOf } from "../events/own.ts";
import { scrubberOf } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Effects } from "../inbox/effects.ts";
import type { SkipReason } from "../inbox/event-records.ts";
import type { Advance, Claim, Inbox } from "../inbox/inbox.ts";
import { channels, definedError, type WorkMessages } from "../observe/channels.ts";
import type { Conflicts } from "./conflicts.ts";

/** Outcome of a run. All times are in ms. */
export type Outcome =
  | {
      readonly kind: "done";
      readonly effects?: Effects | undefined;
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

/** Reason with which a stopping bot aborts its runs. */
export const stopping: ServiceBotError = new ServiceBotError(
  "NOT_READY",
  "The bot is stopping. It handles the event after the next start.",
);

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

/** Errors of other libraries may use the same codes. */
function isOurs(error: unknown, code: ErrorCode): error is ServiceBotError {
  return tryRead(() => error instanceof ServiceBotError && error.code === code) === true;
}

export interface OutcomeOptions {
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time that a lease lasts without a heartbeat, in ms. */
  readonly leaseMs: number;
  /** Removes secrets from stored and logged errors. */
  readonly scrub: (text: string) => string;
  readonly conflicts: Conflicts;
  /** Aborts once the bot stops. */
  readonly stopping: AbortSignal;
  /** Aborts when the bot no longer waits for the store. */
  readonly deadline?: AbortSignal | undefined;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

/** Result of a run. The event is missing if its handlers did not start. */
export interface RunResult {
  readonly outcome: Outcome;
  readonly event?: AnyEvent | undefined;
}

/** A run that has ended, with what is needed to record its outcome. */
export class EndedRun {
  readonly claim: Claim;
  readonly outcome: Outcome;
  /** `undefined` if the handlers did not start. */
  readonly event: AnyEvent | undefined;
  /** Duration of the run. */
  readonly ms: number;
  /**
   * Returns whether the lane may continue with its next event. Called before each try, because the lease may run out
   * between tries.
   */
  readonly mayContinue: () => boolean;
  /** The run's message on its tracing channel. `undefined` without subscribers. */
  readonly work: WorkMessages["run"] | undefined;

  constructor(
    claim: Claim,
    { outcome, event }: RunResult,
    ms: number,
    mayContinue: () => boolean,
    work: WorkMessages["run"] | undefined,
  ) {
    this.claim = claim;
    this.outcome = outcome;
    this.event = event;
    this.ms = ms;
    this.mayContinue = mayContinue;
    this.work = work;
  }

  /** Returns the same run with another outcome. */
  withOutcome(outcome: Outcome): EndedRun {
    const { claim, event, ms, mayContinue, work } = this;
    return new EndedRun(claim, { outcome, event }, ms, mayContinue, work);
  }
}

/** Maximum length of a dead letter's error, in characters. */
const MAX_ERROR_CHARACTERS = 2_000;

/** Number of tries while the bot is stopping. They take a few seconds. */
const MAX_WRITE_ATTEMPTS_AT_THE_END = 5;

/** Pattern that matches the error codes of service-bot, the platform and Node. A handler's own code may be any text. */
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/**
 * Records a run's outcome and publishes it. If another run has changed a state that this run read, nothing is written
 * and the event runs again after a short delay.
 *
 * @returns the next claim to handle
 */
export async function recordOutcome(
  run: EndedRun,
  options: OutcomeOptions,
): Promise<Claim | undefined> {
  const { outcome, claim, event, work } = run;
  if (work !== undefined) completeWork(work, outcome);
  const error = "error" in outcome ? describeError(outcome.error, event, options.scrub) : undefined;
  let written: Advance;
  try {
    const write = new OutcomeWrite(run, error, options);
    written = await persist(() => write.write(), write);
  } catch (conflict) {
    if (!isOurs(conflict, "STATE_CONFLICT")) throw conflict;
    const delayMs = options.conflicts.note(claim);
    const released: Outcome = { kind: "release", delayMs, error: conflict };
    return await recordOutcome(run.withOutcome(released), options);
  }
  if (!isConflict(outcome)) options.conflicts.forget(claim);
  publish(run, written.held, error, options.bot);
  return written.next;
}

function completeWork(work: WorkMessages["run"], outcome: Outcome): void {
  work.outcome = outcome.kind;
  // An event that is released for later did not cause the failure.
  const isFailure = outcome.kind === "retry" || outcome.kind === "dead";
  work.error = isFailure ? definedError(outcome.error) : undefined;
}

function isConflict(outcome: Outcome): boolean {
  return "error" in outcome && isOurs(outcome.error, "STATE_CONFLICT");
}

/**
 * Writes the outcome of a run. A failed write is retried. After the last try, the lane waits until the lease expires.
 * The event then runs again, without repeating its recorded steps.
 */
class OutcomeWrite implements Patience {
  readonly #run: EndedRun;
  readonly #error: string;
  readonly #options: OutcomeOptions;

  constructor(run: EndedRun, error: ShownError | undefined, options: OutcomeOptions) {
    const { outcome } = run;
    this.#run = run;
    this.#error = "error" in outcome && error ? errorText(outcome.error, error) : "";
    this.#options = options;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get signal(): AbortSignal | undefined {
    return this.#options.deadline;
  }

  write(): Promise<Advance> {
    const { claim, outcome, mayContinue } = this.#run;
    const { inbox, leaseMs } = this.#options;
    return outcome.kind === "done" && mayContinue()
      ? inbox.advance(claim, outcome.effects, leaseMs, outcome.skipped)
      : end(inbox, claim, outcome, this.#error);
  }

  tries(): number {
    return this.#options.stopping.aborted ? MAX_WRITE_ATTEMPTS_AT_THE_END : WRITE_ATTEMPTS;
  }

  isFinal(error: unknown): boolean {
    return isOurs(error, "STATE_CONFLICT");
  }

  failed(err: unknown): void {
    const { id: event, trace } = this.#run.claim;
    this.#options.log.error(
      { err, event, trace: traceIdOf(trace) },
      "could not record the outcome of a run",
    );
  }
}

async function end(inbox: Inbox, claim: Claim, outcome: Outcome, error: string): Promise<Advance> {
  switch (outcome.kind) {
    case "done":
      return { held: await inbox.complete(claim, outcome.effects, outcome.skipped) };
    case "retry":
      return { held: await inbox.retry(claim, outcome.delayMs, error) };
    case "skipped":
      return { held: await inbox.release(claim, 0) };
    case "release":
      return { held: await inbox.release(claim, outcome.delayMs, error) };
    case "dead":
      return { held: await inbox.bury(claim, error, outcome.effects) };
    case "lost":
      return { held: false };
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
    event,
    type,
    lane,
    attempt,
    trace: traceIdOf(claim.trace),
    outcome: held ? outcome.kind : "lost",
    ms,
    retryInMs: "delayMs" in outcome ? outcome.delayMs : undefined,
    error,
    ...tryRead(() => placeOf(handled?.payload ?? {})),
    isLoopHeld: "error" in outcome && isError(outcome.error) && outcome.error instanceof LoopHeld,
  });
  if (held) return;
  channels["lease-lost"].publish({ bot, what: outcome.kind === "lost" ? "run" : "result" });
}

/** Formats a handler's error without users' texts, because errors often quote them. */
export function describeError(
  error: unknown,
  event: AnyEvent | undefined,
  scrub: OutcomeOptions["scrub"],
): ShownError {
  const hide = event === undefined ? (text: string) => text : scrubberOf(event);
  return showError(error, (text) => hide(scrub(text)));
}

/** Returns a dead letter's error text. `service-bot inbox` groups dead letters by the class and code in this text. */
function errorText(error: unknown, { type, code = "", message }: ShownError): string {
  // The names of these two errors already contain their code.
  const isNamed = isError(error) && (error instanceof GiveUp || error instanceof RetryLater);
  const what = !isNamed && CODE.test(code) ? `${type} ${code}` : type;
  return `${what}: ${message}`.slice(0, MAX_ERROR_CHARACTERS);
}
