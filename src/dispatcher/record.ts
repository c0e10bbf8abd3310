import { type Clock, type Patience, persist, WRITE_ATTEMPTS } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { type ShownError, showError } from "../core/safe-text.ts";
import { traceIdOf } from "../core/trace.ts";
import { GiveUp, isError, LoopHeld, RetryLater, tryRead } from "../errors.ts";
import { placeOf } from "../events/own.ts";
import { scrubberOf } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Effects } from "../inbox/effects.ts";
import type { Advance, Claim, Inbox } from "../inbox/inbox.ts";
import { channels, definedError, type WorkMessages } from "../observe/channels.ts";
import type { ActiveLane } from "./active-lane.ts";
import { Conflicts, type ConflictsOptions } from "./conflicts.ts";
import { type DeadOutcome, isOurs, type Outcome } from "./outcome.ts";

export interface RecorderOptions extends ConflictsOptions {
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time that a lease lasts without a heartbeat, in ms. */
  readonly leaseMs: number;
  /** Removes secrets from stored and logged errors. */
  readonly scrub: (text: string) => string;
  /**
   * Returns whether a lane may continue with its next event. Called before each try to record an outcome, because the
   * lease may run out between tries.
   */
  readonly mayContinue: (lane: ActiveLane) => boolean;
  /** Aborts once the bot stops. */
  readonly stopping: AbortSignal;
  /** Aborts when the bot no longer waits for the store. */
  readonly deadline?: AbortSignal | undefined;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

/** The message of a run on its tracing channel. `undefined` without subscribers. */
type Work = WorkMessages["run"] | undefined;

/** Maximum length of a dead letter's error, in characters. */
const MAX_ERROR_CHARACTERS = 2_000;

/** Number of tries while the bot is stopping. They take a few seconds. */
const MAX_WRITE_ATTEMPTS_AT_THE_END = 5;

/** Pattern that matches the error codes of service-bot, the platform and Node. A handler's own code may be any text. */
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/** Records the outcomes of handled events in the inbox, and publishes them. */
export class OutcomeRecorder {
  readonly #options: RecorderOptions;
  readonly #conflicts: Conflicts;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#conflicts = new Conflicts(options);
  }

  /**
   * Records an outcome. If another run has changed a state that this run read, nothing is written and the event runs
   * again after a short delay.
   *
   * @param ms duration of the handling
   * @returns the next claim to handle
   */
  async record(
    lane: ActiveLane,
    outcome: Outcome,
    ms: number,
    work: Work,
  ): Promise<Claim | undefined> {
    const { claim, event } = lane;
    const { scrub } = this.#options;
    const held = "held" in outcome ? outcome.held : undefined;
    let error: ShownError | undefined;
    let written: Advance;
    try {
      if (work !== undefined) completeWork(work, outcome);
      error = "error" in outcome ? describeError(outcome.error, event, scrub) : undefined;
      const write = new OutcomeWrite(lane, outcome, error, this.#options);
      written = await persist(() => write.write(), write);
    } catch (conflict) {
      if (!isOurs(conflict, "STATE_CONFLICT")) throw conflict;
      // If it fails, the next run searches for the effect.
      await held?.record().catch(() => undefined);
      const delayMs = this.#conflicts.note(claim);
      return await this.record(lane, { kind: "release", delayMs, error: conflict }, ms, work);
    } finally {
      held?.settle();
    }
    if (!isConflict(outcome)) this.#conflicts.forget(claim);
    this.#publish(lane, outcome, ms, { held: written.held, error });
    return written.next;
  }

  #publish(
    { claim, event: handled }: ActiveLane,
    outcome: Outcome,
    ms: number,
    { held, error }: { readonly held: boolean; readonly error: ShownError | undefined },
  ): void {
    const { bot } = this.#options;
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
 * Writes an outcome. A failed write is retried. After the last try, the lane waits until the lease expires. The event
 * then runs again, without repeating its recorded steps.
 */
class OutcomeWrite implements Patience {
  readonly #lane: ActiveLane;
  readonly #outcome: Outcome;
  readonly #error: string;
  readonly #options: RecorderOptions;

  constructor(
    lane: ActiveLane,
    outcome: Outcome,
    error: ShownError | undefined,
    options: RecorderOptions,
  ) {
    this.#lane = lane;
    this.#outcome = outcome;
    this.#error = "error" in outcome && error ? errorText(outcome.error, error) : "";
    this.#options = options;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get signal(): AbortSignal | undefined {
    return this.#options.deadline;
  }

  async write(): Promise<Advance> {
    const outcome = this.#outcome;
    const { claim } = this.#lane;
    const { inbox, leaseMs, mayContinue } = this.#options;
    switch (outcome.kind) {
      case "done": {
        const { skipped } = outcome;
        const effects = effectsOf(outcome);
        if (mayContinue(this.#lane)) return await inbox.advance(claim, effects, leaseMs, skipped);
        return { held: await inbox.complete(claim, effects, skipped) };
      }
      case "retry":
        return { held: await inbox.retry(claim, outcome.delayMs, this.#error) };
      case "skipped":
        return { held: await inbox.release(claim, 0) };
      case "release":
        return { held: await inbox.release(claim, outcome.delayMs, this.#error) };
      case "dead":
        return { held: await inbox.bury(claim, this.#error, effectsOf(outcome)) };
      case "lost":
        return { held: false };
    }
  }

  tries(): number {
    return this.#options.stopping.aborted ? MAX_WRITE_ATTEMPTS_AT_THE_END : WRITE_ATTEMPTS;
  }

  isFinal(error: unknown): boolean {
    return isOurs(error, "STATE_CONFLICT");
  }

  failed(err: unknown): void {
    const { id: event, trace } = this.#lane.claim;
    this.#options.log.error(
      { err, event, trace: traceIdOf(trace) },
      "could not record the outcome of a run",
    );
  }
}

const NO_EFFECTS: Effects = { states: [], timers: [], cancels: [] };

/** Returns what the run's end writes besides its outcome. */
function effectsOf({ effects, held }: Pick<DeadOutcome, "effects" | "held">): Effects | undefined {
  return held === undefined ? effects : { ...(effects ?? NO_EFFECTS), result: held.result };
}

/** Formats a handler's error without users' texts, because errors often quote them. */
export function describeError(
  error: unknown,
  event: AnyEvent | undefined,
  scrub: RecorderOptions["scrub"],
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
