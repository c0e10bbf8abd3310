import type { Clock } from "../core/clock.ts";
import { scrubber } from "../core/safe-text.ts";
import { traceIdOf } from "../core/trace.ts";
import { messageOf, RetryLater, ServiceBotError } from "../errors.ts";
import { textsOf } from "../events/parse.ts";
import type { Inbox, StepStart } from "../inbox/inbox.ts";
import { channels, traced, works } from "../observe/channels.ts";
import { differs, placeOf } from "./fingerprint.ts";
import { effectCertainty, ownStepUncertain, reconcile } from "./reconcile.ts";
import { StepRecords, shownName, unpackResult } from "./records.ts";
import type { RestoreWindow } from "./restore.ts";
import type {
  Effect,
  Intent,
  Job,
  LostRun,
  ShownEffect,
  Step,
  StepEnd,
  StepRunner,
} from "./step.ts";
import { SubjectClaim } from "./subject.ts";

/** In ms. An intent that took longer to be recorded may look to others like a call that is over. */
const FRESH_MS = 500;

/** Renewals of a stale intent before its effect. A slow store must not keep the step from being made. */
const MAX_RENEWALS = 3;

/** Ends of calls that are remembered. The end of a forgotten one is waited for. */
const MAX_ENDS = 10_000;

export interface StepsOptions {
  readonly inbox: Inbox;
  readonly clock: Clock;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
  /** The restore of the inbox. `undefined` if never restored. */
  readonly restore?: Pick<RestoreWindow, "lostRunOf"> | undefined;
}

/**
 * The steps of one process. Its memory ends with the process, which does no harm: that process sends nothing further,
 * and the next one merely waits for the calls that may be under way.
 */
export class Steps {
  readonly #options: StepsOptions;
  /** The last work at each place. */
  readonly #tails = new Map<string, Promise<void>>();
  /** When the call of a step is over, in ms on the bot's clock. The one remembered first is the first. */
  readonly #ends = new Map<string, number>();

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  forJob(job: Omit<Job, "steps" | "effects">): StepRunner {
    return new JobSteps(this.#options, this, job);
  }

  /** Runs `work` while no other work runs at this place. A caller must not hold one place and wait for another. */
  alone<T>(place: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#tails.get(place) ?? Promise.resolve()).then(work);
    const free = () => {
      if (this.#tails.get(place) === tail) this.#tails.delete(place);
    };
    const tail = mine.then(free, free);
    this.#tails.set(place, tail);
    return mine;
  }

  /** @param end -Infinity if the call is over already; `undefined` if it is made again */
  rememberEnd(event: string, step: string, end: number | undefined): void {
    const key = JSON.stringify([event, step]);
    if (end === undefined) return void this.#ends.delete(key);
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined && this.#ends.size >= MAX_ENDS) this.#ends.delete(oldest);
    this.#ends.set(key, end);
  }

  /** Infinity if unknown. */
  endOf(event: string, step: string): number {
    return this.#ends.get(JSON.stringify([event, step])) ?? Number.POSITIVE_INFINITY;
  }
}

/** The state of a step once its intent is recorded. */
type StartedStep<T> =
  /** The inbox was certain that nothing had happened, and the effect was made. */
  | { readonly state: "made"; readonly effect: Effect<T> }
  /** An earlier run has recorded a result. */
  | Extract<StepStart, { readonly state: "done" }>
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
class JobSteps implements StepRunner {
  readonly #options: StepsOptions;
  readonly #process: Steps;
  readonly #job: Omit<Job, "steps" | "effects">;
  readonly #records: StepRecords;
  readonly #names = new Set<string>();
  /** `undefined` before the first step with a subject. */
  #subject: SubjectClaim | undefined;

  constructor(options: StepsOptions, process: Steps, job: Omit<Job, "steps" | "effects">) {
    this.#options = options;
    this.#process = process;
    this.#job = job;
    this.#records = new StepRecords({ ...options, job });
  }

  /**
   * @throws {ServiceBotError} STEP_DUPLICATE, STEP_UNCERTAIN, STEP_RESULT_INVALID, LEASE_LOST, RETRY_LATER while the
   *   call of an earlier run may be under way, and the errors of the step
   */
  async run<T>(step: Step<T>): Promise<StepEnd<T>> {
    this.#job.signal.throwIfAborted();
    this.#reserve(step.name);
    const message = () => ({ bot: this.#options.bot, step: this.#scrubbedName(step) });
    return await traced(works.step, message, async (work) => {
      const end = await this.#end(step);
      if (work !== undefined) work.outcome = end.outcome;
      this.#publish(step.name, end);
      return end;
    });
  }

  #reserve(name: string): void {
    if (this.#names.has(name)) {
      throw new ServiceBotError(
        "STEP_DUPLICATE",
        `The step "${shownName(name)}" ran already in this handler. Give each step its own name, ` +
          "such as charge:42.",
      );
    }
    this.#names.add(name);
  }

  async #end<T>(step: Step<T>): Promise<StepEnd<T>> {
    if (step.subject !== undefined) {
      this.#subject ??= new SubjectClaim(this.#records);
      if (!(await this.#subject.acquire(step.subject))) {
        const name = shownName(step.name);
        this.#job.log.info(
          { step: name },
          "not sent because another event of this comment was answered",
        );
        return { result: unpackResult<T>(undefined), outcome: "elsewhere" };
      }
    }
    const started = await this.#inTurn(step, requestOf(step), () => this.#begin(step));
    if (started.state === "made") return { ...started.effect, outcome: "made" };
    if (started.state === "uncertain") {
      const found = await this.#find(step, started.intent);
      if (found !== undefined) {
        this.#warnIfDifferent(step, started.intent.request);
        return { ...found, outcome: "found" };
      }
    } else if (started.ageMs < (step.validForMs ?? Number.POSITIVE_INFINITY)) {
      this.#warnIfDifferent(step, started.request);
      return { result: unpackResult<T>(started.result), outcome: "recorded" };
    }
    const effect = await this.#inTurn(step, requestOf(step), async () => {
      const since = this.#options.clock.now();
      await this.#records.renew(step.name, requestOf(step));
      return await this.#make(step, since);
    });
    return { ...effect, outcome: "made" };
  }

  /** Records the intent, and makes the effect if the inbox is certain that no run has made it. */
  async #begin<T>(step: Step<T>): Promise<StartedStep<T>> {
    const { clock, restore } = this.#options;
    const { claim, event } = this.#job;
    const since = clock.now();
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
    return { state: "made", effect: await this.#make(step, since) };
  }

  /** Keeps the new intent from being taken for the time of the lost call, which is older. */
  #rememberLostCall({ name, search }: Step<unknown>, { endedMsAgo }: LostRun): void {
    if (search === undefined) return;
    const end = this.#options.clock.now() + search.inFlightMs - endedMsAgo;
    this.#process.rememberEnd(this.#job.claim.id, name, end);
  }

  /**
   * Makes the effect, and records its result.
   *
   * @param since when the intent began to be recorded, on the bot's clock
   */
  async #make<T>(step: Step<T>, since: number): Promise<Effect<T>> {
    await this.#renewStaleIntent(step, since);
    this.#process.rememberEnd(this.#job.claim.id, step.name, undefined);
    let effect: Effect<T>;
    try {
      effect = await step.run();
    } catch (error) {
      throw await this.#recordFailure(step, error);
    }
    return { ...effect, result: await this.#records.finish(step.name, effect) };
  }

  /**
   * Records a stale intent anew, which fails without the lease. A process that stood still while its intent was
   * recorded does not know that time has passed, and that others may have looked for the effect by now.
   */
  async #renewStaleIntent(step: Step<unknown>, since: number): Promise<void> {
    const { clock } = this.#options;
    for (let n = 0; n < MAX_RENEWALS && clock.now() - since > FRESH_MS; n++) {
      since = clock.now();
      await this.#records.renew(step.name, requestOf(step));
    }
  }

  /** Records how certain it is that nothing happened. Returns the error for the handler. */
  async #recordFailure(step: Step<unknown>, error: unknown): Promise<unknown> {
    const { claim, signal } = this.#job;
    // The abort may have come while the request was under way. The next run looks for the effect.
    if (signal.aborted) return error;
    const certainty = effectCertainty(error);
    if (certainty === "absent") {
      await this.#records.markAbsent(step.name);
      if (step.subject !== undefined) await this.#subject?.release();
      return error;
    }
    if (certainty === "ended") {
      this.#process.rememberEnd(claim.id, step.name, Number.NEGATIVE_INFINITY);
    }
    if (step.search !== undefined || step.repeatable) return error;
    const name = shownName(step.name);
    const reason = `The step "${name}" failed, and it is unknown whether it took effect (${messageOf(error)}).`;
    return ownStepUncertain(reason, claim.id, error);
  }

  /** Looks for the effect of an uncertain step. `undefined` if the step is to be made (again). */
  async #find<T>(step: Step<T>, intent: Intent): Promise<ShownEffect<T> | undefined> {
    const { inbox } = this.#options;
    const { claim } = this.#job;
    const { name, search } = step;
    if (search === undefined) {
      if (step.repeatable) return undefined;
      throw ownStepUncertain(reasonOfDoubt(shownName(name), intent), claim.id);
    }
    this.#putOffWhileInFlight(name, search.inFlightMs, intent);
    return await this.#inTurn(step, intent.request, async () => {
      for (;;) {
        const found = await reconcile(search, intent, { inbox, claim });
        // The next look passes over an effect that another process has adopted meanwhile.
        if (found === undefined || (await this.#records.adopt(name, found))) return found;
      }
    });
  }

  /** Puts the event off while the call may be under way. A wait in here would hold up other events. */
  #putOffWhileInFlight(step: string, inFlightMs: number, { ageMs, lostRun }: Intent): void {
    const { id } = this.#job.claim;
    const now = this.#options.clock.now();
    // A lost run may have called later than the intent that the backup remembers.
    const calledMsAgo = Math.min(ageMs, lostRun?.endedMsAgo ?? ageMs);
    // At most once, and for the time of one call, even if the clock was set since.
    const leftMs = Math.min(inFlightMs - calledMsAgo, inFlightMs);
    const end = Math.min(now + leftMs, this.#process.endOf(id, step));
    if (end <= now) return;
    this.#process.rememberEnd(id, step, end);
    const reason = `The call of an earlier run for "${shownName(step)}" may still be in progress. The bot searches for its effect afterwards.`;
    throw new RetryLater(end - now, reason, { counts: false });
  }

  /** Runs `work` while no other step looks or sends at the place of the request. */
  async #inTurn<R>(step: Step<unknown>, request: string, work: () => Promise<R>): Promise<R> {
    if (step.search === undefined) return await work();
    // An earlier version may have recorded no place.
    const place = placeOf(request) ?? placeOf(requestOf(step)) ?? "posts";
    return await this.#process.alone(place, async () => {
      this.#job.signal.throwIfAborted();
      return await work();
    });
  }

  /** Warns that the text of this run is not sent, because an earlier run has sent another one. */
  #warnIfDifferent(step: Step<unknown>, recorded: string): void {
    if (!differs(recorded, requestOf(step))) return;
    const name = this.#scrubbedName(step);
    this.#job.log.warn({ step: name }, "not sent because an earlier run sent a different answer");
  }

  #publish(step: string, { outcome, ref }: StepEnd<unknown>): void {
    if (!channels.step.hasSubscribers) return;
    const { id: event, type, lane, attempt, trace } = this.#job.claim;
    const about = { event, type, lane, attempt, trace: traceIdOf(trace) };
    channels.step.publish({ bot: this.#options.bot, ...about, step, outcome, ref });
  }

  /** The name without quotations of what people wrote. */
  #scrubbedName({ name }: Step<unknown>): string {
    return scrubber(textsOf(this.#job.event))(shownName(name));
  }
}

function reasonOfDoubt(name: string, { lostRun }: Intent): string {
  if (lostRun !== undefined) {
    return `The inbox was restored from a backup, so it is unknown whether the step "${name}" took effect before.`;
  }
  return `The previous run ended during the step "${name}", so it is unknown whether the step took effect.`;
}

function requestOf({ search }: Step<unknown>): string {
  return search?.request() ?? "";
}
