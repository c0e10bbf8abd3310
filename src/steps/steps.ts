import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { scrubber } from "../core/safe-text.ts";
import { traceIdOf } from "../core/trace.ts";
import { messageOf, RetryLater, ServiceBotError } from "../errors.ts";
import { textsOf } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";
import { channels, traced, works } from "../observe/channels.ts";
import { effectCertainty, shownName, uncertain } from "./certainty.ts";
import { CallsInFlight } from "./in-flight.ts";
import { reconcile } from "./reconcile.ts";
import { StepRecords, unpack } from "./records.ts";
import type { RestoreWindow } from "./restore.ts";
import type { Effect, Intent, LostRun, ShownEffect, Step, StepEnd, StepRunner } from "./step.ts";
import { SubjectClaim } from "./subject.ts";

/** In ms. An intent that took longer to be recorded may look to others like a call that is over. */
const FRESH_MS = 500;

/** Renewals of a stale intent before its effect. A slow store must not keep the step from being made. */
const MAX_RENEWALS = 3;

export interface StepsOptions {
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly log: Logger;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
  /** The restore of the inbox. `undefined` if never restored. */
  readonly restore?: Pick<RestoreWindow, "lostRunOf"> | undefined;
}

/** The run of a handler that steps belong to. */
export interface StepRun {
  readonly event: AnyEvent;
  readonly claim: Claim;
  readonly log: Logger;
  /** Aborts when the run has to end. */
  readonly signal: AbortSignal;
  /** Called with each step that ended well. */
  stepEnded?(step: string, end: StepEnd<unknown>): void;
}

/** The steps of one process. */
export class Steps {
  readonly #options: StepsOptions;
  readonly #calls = new CallsInFlight();

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  forRun(run: StepRun): StepRunner {
    return new DurableSteps(this.#options, this.#calls, run);
  }
}

/** The state of a step once its intent is recorded. */
type StartedStep<T> =
  /** The inbox was certain that nothing had happened, and the effect was made. */
  | { readonly state: "made"; readonly effect: Effect<T> }
  /** An earlier run has recorded a result. */
  | {
      readonly state: "done";
      readonly request: string;
      readonly result: string | undefined;
      readonly ageMs: number;
    }
  /** An earlier run, or one that the inbox does not know, may have made the effect. */
  | { readonly state: "uncertain"; readonly intent: Intent };

/**
 * Runs steps with a durable intent before the effect and a durable result after it. The platform's API has no
 * idempotency keys. Therefore a step whose intent has no result is *uncertain*, and looked for before it is made again:
 *
 *     absent ──intent──▶ made ──result──▶ done
 *                │
 *                └─ a crash, or a restored inbox ──▶ uncertain ──▶ found │ made again │ parked
 *
 * One step at a time looks or sends at a place, until its result is recorded. Otherwise two steps with one text, of two
 * lanes, could both adopt the one message that is there.
 */
class DurableSteps implements StepRunner {
  readonly #options: StepsOptions;
  readonly #calls: CallsInFlight;
  readonly #run: StepRun;
  readonly #records: StepRecords;
  readonly #subject: SubjectClaim;
  readonly #names = new Set<string>();

  constructor(options: StepsOptions, calls: CallsInFlight, run: StepRun) {
    this.#options = options;
    this.#calls = calls;
    this.#run = run;
    this.#records = new StepRecords({ ...options, run });
    this.#subject = new SubjectClaim(this.#records);
  }

  /**
   * @throws {ServiceBotError} STEP_DUPLICATE, STEP_UNCERTAIN, STEP_RESULT_INVALID, LEASE_LOST, RETRY_LATER while the
   *   call of an earlier run may be under way, and the errors of the step
   */
  async run<T>(step: Step<T>): Promise<StepEnd<T>> {
    this.#run.signal.throwIfAborted();
    this.#reserve(step.name);
    const message = () => ({ bot: this.#options.bot, step: this.#scrubbedName(step) });
    return await traced(works.step, message, async (work) => {
      const end = await this.#end(step);
      if (work !== undefined) work.outcome = end.outcome;
      this.#publish(step, end);
      return end;
    });
  }

  #reserve(name: string): void {
    if (this.#names.has(name)) {
      throw new ServiceBotError(
        "STEP_DUPLICATE",
        `The step "${shownName(name)}" ran already in this handler. Give each step its own name, ` +
          "for instance by adding what it is about.",
      );
    }
    this.#names.add(name);
  }

  async #end<T>(step: Step<T>): Promise<StepEnd<T>> {
    if (step.subject !== undefined && !(await this.#subject.acquire(step.subject))) {
      const name = shownName(step.name);
      this.#run.log.info({ step: name }, "not sent: another event of this comment is answered");
      return { result: unpack<T>(undefined), outcome: "elsewhere" };
    }
    const begun = await this.#inTurn(step, requestOf(step), () => this.#begin(step));
    if (begun.state === "made") return { ...begun.effect, outcome: "made" };
    if (begun.state === "uncertain") {
      const found = await this.#find(step, begun.intent);
      if (found !== undefined) {
        this.#warnIfDifferent(step, begun.intent.request);
        return { ...found, outcome: "found" };
      }
    } else if (begun.ageMs < (step.validForMs ?? Number.POSITIVE_INFINITY)) {
      this.#warnIfDifferent(step, begun.request);
      return { result: unpack<T>(begun.result), outcome: "recorded" };
    }
    const effect = await this.#inTurn(step, requestOf(step), () => this.#makeAgain(step));
    return { ...effect, outcome: "made" };
  }

  /** Records the intent, and makes the effect if the inbox is certain that no run has made it. */
  async #begin<T>(step: Step<T>): Promise<StartedStep<T>> {
    const { clock, restore } = this.#options;
    const { claim, event } = this.#run;
    const askedAt = clock.now();
    const request = requestOf(step);
    const lostRun = restore?.lostRunOf(event, claim);
    const start = await this.#records.begin(step.name, request);
    if (start.state === "done") return start;
    if (start.state === "open") {
      const { ageMs } = start;
      const intent = { request: start.request, startedAt: clock.now() - ageMs, ageMs, lostRun };
      return { state: "uncertain", intent };
    }
    if (start.state === "new" && lostRun !== undefined && !step.repeatable) {
      this.#rememberLostCall(step, lostRun);
      const intent = { request, startedAt: clock.now(), ageMs: 0, lostRun };
      return { state: "uncertain", intent };
    }
    await this.#refreshIntent(step, askedAt);
    return { state: "made", effect: await this.#make(step) };
  }

  /** Keeps the new intent from being taken for the time of the lost call, which is older. */
  #rememberLostCall({ name, search }: Step<unknown>, { endedMsAgo }: LostRun): void {
    if (search === undefined) return;
    const end = this.#options.clock.now() + search.inFlightMs - endedMsAgo;
    this.#calls.rememberEnd(this.#run.claim.id, name, end);
  }

  async #makeAgain<T>(step: Step<T>): Promise<Effect<T>> {
    const askedAt = this.#options.clock.now();
    await this.#records.renew(step.name, requestOf(step));
    await this.#refreshIntent(step, askedAt);
    return await this.#make(step);
  }

  /**
   * Records a stale intent anew, which fails without the lease. A process that stood still while its intent was
   * recorded does not know that time has passed, and that others may have looked for the effect by now.
   */
  async #refreshIntent(step: Step<unknown>, askedAt: number): Promise<void> {
    const { clock } = this.#options;
    let since = askedAt;
    for (let n = 0; n < MAX_RENEWALS && clock.now() - since > FRESH_MS; n++) {
      since = clock.now();
      await this.#records.renew(step.name, requestOf(step));
    }
  }

  /** Makes the effect, and records its result. */
  async #make<T>(step: Step<T>): Promise<Effect<T>> {
    this.#calls.forgetEnd(this.#run.claim.id, step.name);
    let effect: Effect<T>;
    try {
      effect = await step.run();
    } catch (error) {
      throw await this.#recordFailure(step, error);
    }
    return { ...effect, result: await this.#records.finish(step.name, effect) };
  }

  /** Records how certain it is that nothing happened. Returns the error for the handler. */
  async #recordFailure(step: Step<unknown>, error: unknown): Promise<unknown> {
    const { claim, signal } = this.#run;
    // The abort may have come while the request was under way. The next run looks for the effect.
    if (signal.aborted) return error;
    const certainty = effectCertainty(error);
    if (certainty === "absent") {
      await this.#records.markAbsent(step.name);
      if (step.subject !== undefined) await this.#subject.release();
      return error;
    }
    if (certainty === "ended") {
      this.#calls.rememberEnd(claim.id, step.name, Number.NEGATIVE_INFINITY);
    }
    if (step.search !== undefined || step.repeatable) return error;
    const name = shownName(step.name);
    const reason = `The step "${name}" failed in a way that leaves open whether it took effect (${messageOf(error)}).`;
    return uncertain(claim.id, reason, error);
  }

  /** Looks for the effect of an uncertain step. `undefined` if the step is to be made (again). */
  async #find<T>(step: Step<T>, intent: Intent): Promise<Effect<T> | undefined> {
    const { id } = this.#run.claim;
    const { lostRun } = intent;
    if (step.search === undefined) {
      if (step.repeatable) return undefined;
      const name = shownName(step.name);
      const reason =
        lostRun === undefined
          ? `The run before this one ended inside the step "${name}": it was killed, stopped or out of time, or its result ` +
            "could not be recorded. Whether the step took effect is unknown."
          : "The inbox was restored from a backup, and this event may have been handled before. Whether the step " +
            `"${name}" took effect then is unknown.`;
      throw uncertain(id, reason);
    }
    this.#putOffWhileInFlight(step.name, step.search.inFlightMs, intent);
    return await this.#inTurn(step, intent.request, () => this.#adopt(step, intent));
  }

  async #adopt<T>({ name, search }: Step<T>, intent: Intent): Promise<ShownEffect<T> | undefined> {
    const { inbox } = this.#options;
    const { claim } = this.#run;
    for (;;) {
      const found = search && (await reconcile(search, intent, { inbox, claim }));
      // The next look passes over an effect that another process has adopted meanwhile.
      if (found === undefined || (await this.#records.adopt(name, found))) return found;
    }
  }

  /** Puts the event off while the call may be under way. A wait in here would hold up other events. */
  #putOffWhileInFlight(step: string, inFlightMs: number, { ageMs, lostRun }: Intent): void {
    const { id } = this.#run.claim;
    const now = this.#options.clock.now();
    // A lost run may have called later than the intent that the backup remembers.
    const calledMsAgo = Math.min(ageMs, lostRun?.endedMsAgo ?? ageMs);
    // At most once, and for the time of one call, even if the clock was set since.
    const leftMs = Math.min(inFlightMs - calledMsAgo, inFlightMs);
    const end = Math.min(now + leftMs, this.#calls.endOf(id, step));
    if (end <= now) return;
    this.#calls.rememberEnd(id, step, end);
    const reason = `The call of an earlier run for "${shownName(step)}" may be under way. The step is looked for afterwards.`;
    throw new RetryLater(end - now, reason, { counts: false });
  }

  /** Runs `work` while no other step looks or sends at the place of the request. */
  async #inTurn<T, R>(step: Step<T>, request: string, work: () => Promise<R>): Promise<R> {
    if (step.search === undefined) return await work();
    return await this.#calls.alone(step.search.place(request), async () => {
      this.#run.signal.throwIfAborted();
      return await work();
    });
  }

  /** Warns that the text of this run is not sent, because an earlier run has sent another one. */
  #warnIfDifferent(step: Step<unknown>, recorded: string): void {
    if (step.search?.differs(recorded) !== true) return;
    const name = this.#scrubbedName(step);
    this.#run.log.warn({ step: name }, "not sent: an earlier run sent something else in its place");
  }

  #publish({ name: step }: Step<unknown>, end: StepEnd<unknown>): void {
    this.#run.stepEnded?.(step, end);
    if (!channels.step.hasSubscribers) return;
    const { id: event, type, lane, attempt, trace } = this.#run.claim;
    const about = { event, type, lane, attempt, trace: traceIdOf(trace) };
    const { outcome, ref } = end;
    channels.step.publish({ bot: this.#options.bot, ...about, step, outcome, ref });
  }

  /** The name without quotations of what people wrote. */
  #scrubbedName({ name }: Step<unknown>): string {
    return scrubber(textsOf(this.#run.event))(shownName(name));
  }
}

function requestOf({ search }: Step<unknown>): string {
  return search?.request() ?? "";
}
