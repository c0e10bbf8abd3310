import type { BackoffOptions, Random } from "../core/clock.ts";
import { ServiceBotError } from "../errors.ts";
import type { Claim } from "../inbox/inbox.ts";
import { Steps, type StepsOptions } from "../steps/steps.ts";
import { type Abort, stopping } from "./abort.ts";
import type { ActiveLane } from "./active-lane.ts";
import { Deadlines } from "./deadlines.ts";
import { type DeadOutcome, decideOutcome, type Outcome, type RetryPolicy } from "./outcome.ts";
import { describeError, type RecorderOptions } from "./record.ts";
import { type JobHandler, Run, type RunOptions } from "./run.ts";
import type { HandledTypes } from "./type-limits.ts";

export interface AttemptsOptions
  extends Omit<RunOptions, "steps" | "inbox">,
    StepsOptions,
    Pick<RecorderOptions, "scrub"> {
  readonly handler: JobHandler;
  readonly types: HandledTypes;
  /** Time limit of a run whose type has no limit of its own, in ms. */
  readonly handlerTimeoutMs: number;
  /** Number of failed runs after which an event becomes a dead letter. */
  readonly maxAttempts: number;
  readonly backoff: BackoffOptions;
  readonly random: Random;
  /** Creates the abort of another run for a claim. */
  readonly abortFor: (claim: Claim) => Abort;
}

/** Handles one claimed event at a time: runs its handlers and, if the last attempt has failed, its boundary. */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #runOptions: RunOptions;
  /** By the time limit in ms. */
  readonly #deadlines = new Map<number, Deadlines>();

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#runOptions = { ...options, steps: new Steps(options) };
  }

  /**
   * Handles the lane's event. An attempt is counted before its handlers run. An attempt beyond the limit means that the
   * process crashed in every run, so only the boundary runs. One attempt more means that the process crashed in the
   * boundary as well.
   */
  async handle(lane: ActiveLane): Promise<Outcome> {
    const { claim, abort } = lane;
    const { handler, types } = this.#options;
    const { maxAttempts = this.#options.maxAttempts } = types.optionsFor(claim.type);
    if (claim.attempt > maxAttempts + 1)
      return { kind: "dead", error: crashed(claim, maxAttempts) };
    if (abort.reason === stopping) return { kind: "skipped" };
    let run: Run | undefined;
    try {
      if (abort.aborted) throw abort.reason;
      run = new Run(claim, abort, handler, this.#runOptions);
      lane.event = run.event;
      if (claim.attempt > maxAttempts) throw crashed(claim, maxAttempts);
      const requested = await run.execute(this.#deadlinesOf(claim));
      return { kind: "done", ...requested, skipped: run.handlers.skipped };
    } catch (error) {
      const outcome = decideOutcome(error, claim.attempt, this.#policyOf(claim));
      if (outcome.kind !== "dead" || run === undefined) return outcome;
      return await this.#runBoundary(lane, run, outcome);
    }
  }

  /**
   * Runs the boundary of an event that is about to become a dead letter. A failure of the boundary changes nothing. If
   * an outage caused the failure, the event is released for a later run, because otherwise the user would get no reply.
   */
  async #runBoundary(lane: ActiveLane, run: Run, dead: DeadOutcome): Promise<Outcome> {
    const { claim, abort } = lane;
    const { abortFor, scrub } = this.#options;
    try {
      const boundary = run.handlers.boundary(dead.error);
      if (boundary === undefined) return dead;
      // The bot stopped, or the lease was lost, while the observers ran.
      if (abort.aborted && abort.reason !== dead.error) {
        return decideOutcome(abort.reason, claim.attempt, this.#policyOf(claim));
      }
      lane.abort = abortFor(claim);
      const last = new Run(claim, lane.abort, boundary, this.#runOptions);
      return { ...dead, ...(await last.execute(this.#deadlinesOf(claim))) };
    } catch (failure) {
      const outcome = decideOutcome(failure, claim.attempt, this.#policyOf(claim));
      if (outcome.kind === "release" || outcome.kind === "lost") return outcome;
      run.log.error({ err: describeError(failure, run.event, scrub) }, "a catch handler failed");
      return dead;
    }
  }

  #policyOf({ type }: Claim): RetryPolicy {
    const { maxAttempts, backoff, random, types } = this.#options;
    const own = types.optionsFor(type);
    return {
      maxAttempts: own.maxAttempts ?? maxAttempts,
      backoff: { ...backoff, ...own.retry },
      random,
    };
  }

  #deadlinesOf({ type }: Claim): Deadlines {
    const { clock, handlerTimeoutMs, types } = this.#options;
    const { timeoutMs = handlerTimeoutMs } = types.optionsFor(type);
    let deadlines = this.#deadlines.get(timeoutMs);
    if (deadlines === undefined) {
      deadlines = new Deadlines(clock, timeoutMs);
      this.#deadlines.set(timeoutMs, deadlines);
    }
    return deadlines;
  }
}

function crashed({ attempt, crashes }: Claim, maxAttempts: number): ServiceBotError {
  return new ServiceBotError(
    "HANDLER_CRASHED",
    `The event has used ${attempt - 1} of ${maxAttempts} attempts. The process ended during ` +
      `${crashes} of them. Run \`npx service-bot inbox show\` to see each run.`,
  );
}
