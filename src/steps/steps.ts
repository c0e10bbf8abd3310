import type { Clock } from "../core/clock.ts";
import { checkRunItems } from "../core/run-limits.ts";
import { traceIdOf } from "../core/trace.ts";
import { messageOf, RetryLater, ServiceBotError } from "../errors.ts";
import { scrubberOf } from "../events/parse.ts";
import { canFindAgain, type StepResult } from "../inbox/effects.ts";
import type { Inbox, StepStart } from "../inbox/inbox.ts";
import { channels, traced, works } from "../observe/channels.ts";
import { differs, readFingerprint, requestPlace } from "./fingerprint.ts";
import { HeldResult } from "./held-result.ts";
import { effectCertainty, ownStepUncertain, reconcile } from "./reconcile.ts";
import { displayName, StepRecords, unpackResult } from "./records.ts";
import type { RestoreWindow } from "./restore.ts";
import type { Effect, FoundEffect, Intent, Job, LostRun, RunSteps, Step, StepEnd } from "./step.ts";
import { SubjectClaim } from "./subject.ts";

/**
 * Time after which an intent is stale, in ms. If the write takes longer, other processes may mistake the call for a
 * finished one.
 */
const FRESH_MS = 500;

/** Maximum number of times a stale intent is renewed before the step runs. A slow store must not prevent the step. */
const MAX_RENEWALS = 3;

/**
 * Age of a call at which its effect is searched for a second time, in ms. Most requests end by then, even if the
 * platform is slow. The third search follows once the call is over.
 */
const SECOND_SEARCH_MS = 3_000;

/** Maximum number of remembered call ends. If a call's end is unknown, the step waits for the longest possible call. */
const MAX_ENDS = 10_000;

export interface StepsOptions {
  readonly inbox: Inbox;
  readonly clock: Clock;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
  /** Set if the inbox was restored from a backup. */
  readonly restore?: Pick<RestoreWindow, "lostRunOf"> | undefined;
}

/**
 * Keeps track of the steps in one process. This memory may be lost with the process, because a dead process sends
 * nothing, and the next process waits for calls that may be in progress.
 */
export class Steps {
  readonly #options: StepsOptions;
  /** The last work queued at each place. */
  readonly #tails = new Map<string, Promise<void>>();
  /** End of each step's call, in ms on the bot's clock, in insertion order. */
  readonly #ends = new Map<string, number>();

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  forJob(job: Omit<Job, "steps" | "effects">): RunSteps {
    return new JobSteps(this.#options, this, job);
  }

  /**
   * Runs `work` while no other work runs at the place, which is a conversation or a post. A caller must not occupy one
   * place while it waits for another.
   *
   * @param rest returns what else must end before other work runs there
   */
  alone<T>(
    place: string,
    work: () => Promise<T>,
    rest: () => Promise<void> | undefined,
  ): Promise<T> {
    const mine = (this.#tails.get(place) ?? Promise.resolve()).then(work);
    const free = () => {
      if (this.#tails.get(place) === tail) this.#tails.delete(place);
    };
    const tail = mine.then(rest).then(free, free);
    this.#tails.set(place, tail);
    return mine;
  }

  /**
   * Records when a step's call ends.
   *
   * @param end -Infinity if the call is over, or `undefined` if the step calls again
   */
  rememberEnd(event: string, step: string, end: number | undefined): void {
    const key = JSON.stringify([event, step]);
    if (end === undefined) return void this.#ends.delete(key);
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined && this.#ends.size >= MAX_ENDS) this.#ends.delete(oldest);
    this.#ends.set(key, end);
  }

  /** Returns when a step's call ends, or Infinity if that is unknown. */
  endOf(event: string, step: string): number {
    return this.#ends.get(JSON.stringify([event, step])) ?? Number.POSITIVE_INFINITY;
  }
}

/** State of a step once its intent is recorded. */
type StartedStep<T> =
  /** No earlier run had started the step, so this run performed it. */
  | { readonly state: "made"; readonly effect: Effect<T> }
  /** An earlier run recorded a result. */
  | Extract<StepStart, { readonly state: "done" }>
  /** An earlier or lost run may have caused the effect. */
  | { readonly state: "uncertain"; readonly intent: Intent };

/**
 * Runs steps with a durable intent before the effect and a durable result after it. The platform's API has no
 * idempotency keys. Therefore a step with an intent but no result is *uncertain*, and the bot searches for its effect
 * before repeating it:
 *
 *     absent ──intent──▶ made ──result──▶ done
 *                │
 *                └─ a crash, or a restored inbox ──▶ uncertain ──▶ found │ made again │ parked
 *
 * Only one step at a time may search or send in a conversation or on a post, until its result is recorded. Otherwise,
 * two steps in different lanes with the same text could claim the same message.
 */
class JobSteps implements RunSteps {
  readonly #options: StepsOptions;
  readonly #process: Steps;
  readonly #job: Omit<Job, "steps" | "effects">;
  readonly #records: StepRecords;
  readonly #names = new Set<string>();
  /** `undefined` until the first step with a subject. */
  #subject: SubjectClaim | undefined;
  /** A result that is not recorded yet. If recording it fails, every later step fails, because the run must end. */
  #held: HeldResult | undefined;
  /** True once the run's end has been written, or is about to be. */
  #hasEnded = false;

  constructor(options: StepsOptions, process: Steps, job: Omit<Job, "steps" | "effects">) {
    this.#options = options;
    this.#process = process;
    this.#job = job;
    this.#records = new StepRecords({ ...options, job });
  }

  /**
   * @throws {ServiceBotError} STEP_DUPLICATE, STEP_UNCERTAIN, STEP_RESULT_INVALID, RUN_TOO_LARGE, LEASE_LOST,
   *   RETRY_LATER while an earlier run's call may be in progress, and the step's errors
   */
  async run<T>(step: Step<T>): Promise<StepEnd<T>> {
    this.#job.signal.throwIfAborted();
    this.#reserve(step.name);
    if (this.#held !== undefined) {
      await this.#held.record();
      this.#job.signal.throwIfAborted();
    }
    const message = () => ({ bot: this.#options.bot, step: this.#scrubbedName(step) });
    return await traced(works.step, message, async (work) => {
      const end = await this.#end(step);
      if (work !== undefined) work.outcome = end.outcome;
      this.#publish(step.name, end);
      return end;
    });
  }

  async leaveResult(): Promise<HeldResult | undefined> {
    this.#hasEnded = true;
    const held = this.#held;
    if (held === undefined || held.leave()) return held;
    await held.record();
    return undefined;
  }

  async recordResult(): Promise<void> {
    await this.#held?.record();
  }

  #reserve(name: string): void {
    if (this.#names.has(name)) {
      throw new ServiceBotError(
        "STEP_DUPLICATE",
        `The step "${displayName(name)}" has already run in this handler. Give each step its own name, ` +
          "such as charge:42.",
      );
    }
    checkRunItems(this.#names.size + 1, "steps");
    this.#names.add(name);
  }

  async #end<T>(step: Step<T>): Promise<StepEnd<T>> {
    if (step.subject !== undefined) {
      this.#subject ??= new SubjectClaim(this.#records);
      if (!(await this.#subject.acquire(step.subject))) {
        const name = displayName(step.name);
        this.#job.log.info(
          { step: name },
          "reply not sent; the bot already replied to another event about this comment",
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

  /** Records the intent, and performs the step if no earlier run can have performed it. */
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

  /** Uses the lost call's age, because the lost call is older than the new intent. */
  #rememberLostCall({ name, search }: Step<unknown>, { endedMsAgo }: LostRun): void {
    if (search === undefined) return;
    const end = this.#options.clock.now() + search.inFlightMs - endedMsAgo;
    this.#process.rememberEnd(this.#job.claim.id, name, end);
  }

  /**
   * Performs the step and records its result.
   *
   * @param since time on the bot's clock when recording the intent began
   */
  async #make<T>(step: Step<T>, since: number): Promise<Effect<T>> {
    await this.#renewStaleIntent(step, since);
    this.#process.rememberEnd(this.#job.claim.id, step.name, undefined);
    let effect: Effect<T>;
    try {
      effect = await step.run();
    } catch (error) {
      throw (await this.#recordFailure(step, error)).error;
    }
    const stored = this.#records.resultOf(step.name, effect);
    await this.#keep(stored);
    return { ...effect, result: unpackResult(stored.result) };
  }

  /** Records a result, or holds it for the run's end. */
  async #keep(result: StepResult): Promise<void> {
    const isHeld = canFindAgain(result) && !this.#hasEnded && this.#held === undefined;
    if (!isHeld) return await this.#records.finish(result);
    this.#held = new HeldResult(result, async () => {
      await this.#records.finish(result);
      this.#held = undefined;
    });
  }

  /**
   * Renews a stale intent, which fails if the lease was lost. If the process was suspended while recording the intent,
   * other processes may have searched for the effect in the meantime.
   */
  async #renewStaleIntent(step: Step<unknown>, since: number): Promise<void> {
    const { clock } = this.#options;
    for (let n = 0; n < MAX_RENEWALS && clock.now() - since > FRESH_MS; n++) {
      since = clock.now();
      await this.#records.renew(step.name, requestOf(step));
    }
  }

  /**
   * Records how certain it is that the effect did not happen. Returns the error to throw to the handler, in an object
   * because a promise would resolve with an error that has a `then` method.
   */
  async #recordFailure(step: Step<unknown>, error: unknown): Promise<{ readonly error: unknown }> {
    const { claim, signal } = this.#job;
    // The abort may have interrupted the request, so the next run searches for the effect.
    if (signal.aborted) return { error };
    const certainty = effectCertainty(error);
    if (certainty === "absent") {
      await this.#records.markAbsent(step.name);
      if (step.subject !== undefined) await this.#subject?.release();
      return { error };
    }
    if (certainty === "ended") {
      this.#process.rememberEnd(claim.id, step.name, Number.NEGATIVE_INFINITY);
    }
    if (step.search !== undefined || step.repeatable) return { error };
    const name = displayName(step.name);
    const reason = `The step "${name}" failed, and it is unknown whether it took effect (${messageOf(error)}).`;
    return { error: ownStepUncertain(reason, claim.id, error) };
  }

  /** Searches for an uncertain step's effect. Resolves to `undefined` if the step must run again. */
  async #find<T>(step: Step<T>, intent: Intent): Promise<FoundEffect<T> | undefined> {
    const { inbox, clock } = this.#options;
    const { claim } = this.#job;
    const { name, search } = step;
    if (search === undefined) {
      if (step.repeatable) return undefined;
      throw ownStepUncertain(reasonOfDoubt(displayName(name), intent), claim.id);
    }
    return await this.#inTurn(step, intent.request, async () => {
      // The earlier process may have allowed its calls more time.
      const recordedMs = readFingerprint(intent.request)?.inFlightMs ?? 0;
      const inFlightMs = Math.max(search.inFlightMs, recordedMs);
      const searchAgain = this.#searchAgain(name, inFlightMs, intent);
      const options = { inbox, claim, clock, inFlightMs, searchAgain };
      for (;;) {
        const found = await reconcile(search, intent, options);
        // Search again if another process has claimed the effect in the meantime. The next search skips that effect.
        if (found === undefined || (await this.#records.reconcile(name, found))) return found;
      }
    });
  }

  /**
   * Returns the error that postpones the event to the next search. `undefined` if the call is over. An effect that
   * appears while the call is in progress is adopted at once, but no search concludes then that the effect is absent.
   */
  #searchAgain(
    step: string,
    inFlightMs: number,
    { ageMs, lostRun }: Intent,
  ): RetryLater | undefined {
    const { id } = this.#job.claim;
    const now = this.#options.clock.now();
    // After a restore, a run that the backup does not contain may have made its call later than the recorded intent.
    const calledMsAgo = Math.min(ageMs, lostRun?.endedMsAgo ?? ageMs);
    // Wait for at most the duration of one call, even if the clock was set in the meantime.
    const leftMs = Math.min(inFlightMs - calledMsAgo, inFlightMs);
    const end = Math.min(now + leftMs, this.#process.endOf(id, step));
    if (end <= now) return undefined;
    this.#process.rememberEnd(id, step, end);
    const second = end - inFlightMs + SECOND_SEARCH_MS;
    const next = second > now ? Math.min(second, end) : end;
    const reason = `An earlier run's call for "${displayName(step)}" may still be in progress. The bot searches again for its effect.`;
    // Waiting here would block other events.
    return new RetryLater(next - now, reason, { counts: false });
  }

  /** Runs `work` while no other step searches or sends at the request's place. */
  async #inTurn<R>(step: Step<unknown>, request: string, work: () => Promise<R>): Promise<R> {
    if (step.search === undefined) return await work();
    // An earlier version may have recorded no place.
    const place = requestPlace(request) ?? requestPlace(requestOf(step)) ?? "posts";
    const alone = async () => {
      this.#job.signal.throwIfAborted();
      return await work();
    };
    return await this.#process.alone(place, alone, () => this.#held?.settled);
  }

  /** Warns that this run's text was not sent because an earlier run sent a different text. */
  #warnIfDifferent(step: Step<unknown>, recorded: string): void {
    if (!differs(recorded, requestOf(step))) return;
    const name = this.#scrubbedName(step);
    this.#job.log.warn(
      { step: name },
      "reply not sent; an earlier run already sent a different one",
    );
  }

  #publish(step: string, { outcome, ref }: StepEnd<unknown>): void {
    if (!channels.step.hasSubscribers) return;
    const { id: event, type, lane, attempt, trace } = this.#job.claim;
    const about = { event, type, lane, attempt, trace: traceIdOf(trace) };
    channels.step.publish({ bot: this.#options.bot, ...about, step, outcome, ref });
  }

  /** Returns the step's name without users' texts. */
  #scrubbedName({ name }: Step<unknown>): string {
    return scrubberOf(this.#job.event)(displayName(name));
  }
}

function reasonOfDoubt(name: string, { lostRun }: Intent): string {
  if (lostRun !== undefined) {
    return `The inbox was restored from a backup, so it is unknown whether the step "${name}" already took effect.`;
  }
  return `The previous run ended during the step "${name}", so it is unknown whether the step took effect.`;
}

function requestOf({ search }: Step<unknown>): string {
  return search?.request() ?? "";
}
