import { inSpan, type SpanStart, type Tracing } from "../core/tracing.ts";
import { hasCode, RetryLater, ServiceBotError } from "../errors.ts";
import type { StepStart } from "../inbox/inbox.ts";
import { effectCertainty, endedInside, failedInside, restoredBefore, shown } from "./certainty.ts";
import { StepRecords, type StepRecordsOptions, unpack } from "./records.ts";
import type { Shared } from "./shared.ts";
import type { Effect, OpenIntent, Past, Step, StepEnd, StepRunner } from "./step.ts";
import { SubjectClaim } from "./subject.ts";

/** An intent that took longer to be recorded may be taken for one whose call is over, in milliseconds. */
const FRESH_MS = 500;

/** So often an intent is recorded anew before what it is for is done. */
const MOST_RENEWALS = 3;

/** What the steps of one run share. */
export interface StepScope extends StepRecordsOptions {
  /** What they share with all other runs. */
  readonly shared: Shared;
  readonly tracing?: Tracing | undefined;
  /** What a step is called in spans; by default as the handler has named it. */
  readonly nameOf?: (step: string) => string;
  /** Called with each step that has ended well. */
  readonly ended?: (step: string, end: EndedStep) => void;
  /** What may have been done for the event of which the inbox knows nothing; undefined: nothing. */
  readonly past?: (() => Promise<Past | undefined>) | undefined;
}

/** How a step has ended. */
export type StepOutcome =
  /** It was made. */
  | "made"
  /** An earlier run has recorded its result. */
  | "recorded"
  /** An earlier run had made it, and left no result; it was looked for, and found. */
  | "found"
  /** Nothing was done, because another event of the same comment has the answer. */
  | "elsewhere";

interface Ended<T> extends Effect<T> {
  readonly outcome: StepOutcome;
}

/** The end of a step. `ref` is the platform's id of what it made. */
export type EndedStep = Ended<unknown>;

type Open = Extract<StepStart, { readonly state: "open" }>;

/** What came of beginning a step: it was new and has been made, or there was something before. */
type Begun<T> =
  | { readonly state: "made"; readonly effect: Effect<T> }
  | Exclude<StepStart, { readonly state: "new" | "absent" }>;

/**
 * Steps with a durable intent before the effect and a durable result after it. A run that finds an
 * intent without a result looks for the effect before it makes it again: the platform's API has no
 * idempotency keys, so this is what keeps a retried handler from saying things twice.
 *
 * What is made or found is recorded before anybody else looks or sends at the same place. Else two
 * steps with one text, of two lanes, could both take the one message that is there.
 */
export class DurableSteps implements StepRunner {
  readonly #scope: StepScope;
  readonly #records: StepRecords;
  readonly #names = new Set<string>();
  readonly #subject: SubjectClaim;

  constructor(scope: StepScope) {
    this.#scope = scope;
    this.#records = new StepRecords(scope);
    this.#subject = new SubjectClaim(this.#records);
  }

  /** Runs a step like {@link execute}, and returns its result alone. */
  async run<T>(step: Step<T>): Promise<T> {
    return (await this.#execute(step)).result;
  }

  /**
   * @throws {ServiceBotError} STEP_DUPLICATE, STEP_UNCERTAIN, STEP_RESULT_INVALID, LEASE_LOST, RETRY_LATER while the call
   *   of an earlier run may be under way, and what the step throws
   */
  async execute<T>(step: Step<T>): Promise<StepEnd<T>> {
    const { result, outcome } = await this.#execute(step);
    return { result, repeated: outcome !== "made" };
  }

  async #execute<T>(step: Step<T>): Promise<Ended<T>> {
    this.#scope.signal.throwIfAborted();
    this.#reserve(step.name);
    const { tracing, nameOf = shown, ended } = this.#scope;
    const start = () => stepSpan(nameOf(step.name));
    return await inSpan(tracing, start, async (span) => {
      const end = await this.#end(step);
      span?.set({ "service_bot.step.outcome": end.outcome });
      ended?.(step.name, end);
      return end;
    });
  }

  async #end<T>(step: Step<T>): Promise<Ended<T>> {
    if (step.subject === undefined) return await this.#endAlone(step);
    const end = await this.#subject.run(step.subject, () => this.#endAlone(step));
    if (end !== undefined) return end;
    this.#scope.log.info(
      { step: shown(step.name) },
      "not sent: another event of this comment is answered",
    );
    return { result: unpack<T>(undefined), outcome: "elsewhere" };
  }

  async #endAlone<T>(step: Step<T>): Promise<Ended<T>> {
    const past = this.#scope.past && (await this.#scope.past());
    const begun = await this.#alone(step, step.request(), () => this.#begin(step, past));
    if (begun.state === "made") return { ...begun.effect, outcome: "made" };
    if (begun.state === "done") {
      const { validForMs = Number.POSITIVE_INFINITY } = step;
      if (begun.ageMs < validForMs) {
        this.#warnIfDifferent(step, begun.request);
        return { result: unpack<T>(begun.result), outcome: "recorded" };
      }
    } else {
      const found = await this.#lookFor(step, begun, past);
      if (found !== undefined) {
        this.#warnIfDifferent(step, begun.request);
        return { ...found, outcome: "found" };
      }
    }
    const effect = await this.#alone(step, step.request(), () => this.#again(step));
    return { ...effect, outcome: "made" };
  }

  /** Logs that the words of this run are not sent, because an earlier run has sent others. */
  #warnIfDifferent(step: Step<unknown>, recorded: string): void {
    if (step.differs?.(recorded) !== true) return;
    const { log, nameOf = shown } = this.#scope;
    log.warn(
      { step: nameOf(step.name) },
      "not sent: an earlier run sent something else in its place",
    );
  }

  #reserve(name: string): void {
    if (this.#names.has(name)) {
      throw new ServiceBotError(
        "STEP_DUPLICATE",
        `The step "${shown(name)}" ran already in this handler. Give each step its own name, ` +
          "for instance by adding what it is about.",
      );
    }
    this.#names.add(name);
  }

  /** Nobody else looks or sends where this request does meanwhile; it may have taken a while until then. */
  #alone<T, R>(step: Step<T>, request: string, work: () => Promise<R>): Promise<R> {
    const { shared, signal } = this.#scope;
    return shared.alone(step.place?.(request), async () => {
      signal.throwIfAborted();
      return await work();
    });
  }

  async #begin<T>(step: Step<T>, past: Past | undefined): Promise<Begun<T>> {
    const asked = this.#scope.clock.now();
    const request = step.request();
    const start = await this.#records.begin(step.name, request);
    if (start.state !== "new" && start.state !== "absent") return start;
    // It is new to an inbox that came from a backup: that it was never tried is not known.
    if (past !== undefined && start.state === "new" && canBeInDoubt(step, past)) {
      this.#rememberLost(step, past);
      return { state: "open", request, ageMs: 0 };
    }
    await this.#freshen(step, asked);
    return { state: "made", effect: await this.#make(step) };
  }

  /** The intent is not older than this moment, and what a lost process has sent is: it may be over already. */
  #rememberLost({ name, inFlightMs }: Step<unknown>, { ageMs }: Past): void {
    const { claim, clock, shared } = this.#scope;
    shared.rememberEnd(claim.id, name, clock.now() + inFlightMs - ageMs);
  }

  async #again<T>(step: Step<T>): Promise<Effect<T>> {
    const asked = this.#scope.clock.now();
    await this.#records.renew(step.name, step.request());
    await this.#freshen(step, asked);
    return await this.#make(step);
  }

  /**
   * A process that stood still while its intent was recorded wakes up in the belief that no time has passed, and
   * others may have looked for the effect by now. An intent that is old is recorded anew: without the lease,
   * that is refused. A store that is merely slow must not keep the step from ever being made.
   */
  async #freshen(step: Step<unknown>, asked: number): Promise<void> {
    const { clock } = this.#scope;
    let since = asked;
    for (let n = 0; n < MOST_RENEWALS && clock.now() - since > FRESH_MS; n++) {
      since = clock.now();
      await this.#records.renew(step.name, step.request());
    }
  }

  async #make<T>(step: Step<T>): Promise<Effect<T>> {
    const { claim, shared } = this.#scope;
    shared.forgetEnd(claim.id, step.name);
    let effect: Effect<T>;
    try {
      effect = await step.run();
    } catch (error) {
      throw await this.#judge(step, error);
    }
    return { ...effect, result: await this.#records.finish(step.name, effect) };
  }

  /** What the failure of an effect leaves behind, and the error that it is for the handler. */
  async #judge(step: Step<unknown>, error: unknown): Promise<unknown> {
    const { claim, signal, shared } = this.#scope;
    // It may have come while the request was under way: the next run looks for it.
    if (signal.aborted) return error;
    const certainty = effectCertainty(error);
    if (certainty === "none") {
      // Nothing can have happened, so the next run need not look for it.
      await this.#records.drop(step.name);
      if (step.subject !== undefined) await this.#subject.release();
      return error;
    }
    if (certainty === "answered") shared.rememberEnd(claim.id, step.name, Number.NEGATIVE_INFINITY);
    const hopeless = step.find === undefined && !step.repeatable;
    return hopeless ? failedInside(step.name, claim.id, error) : error;
  }

  async #lookFor<T>(
    step: Step<T>,
    open: Open,
    past: Past | undefined,
  ): Promise<Effect<T> | undefined> {
    const { claim } = this.#scope;
    if (step.find === undefined) {
      if (step.repeatable || past?.assumeAbsent === true) return undefined;
      throw past === undefined
        ? endedInside(step.name, claim.id)
        : restoredBefore(step.name, claim.id);
    }
    const ageMs = past === undefined ? open.ageMs : Math.min(open.ageMs, past.ageMs);
    this.#expectOver(step, ageMs);
    try {
      return await this.#find(step, open, past);
    } catch (error) {
      if (past?.assumeAbsent === true && hasCode(error, "STEP_UNCERTAIN")) return undefined;
      throw error;
    }
  }

  #find<T>(
    step: Step<T>,
    { request, ageMs }: Open,
    past: Past | undefined,
  ): Promise<Effect<T> | undefined> {
    const { inbox, claim, clock } = this.#scope;
    const intent: OpenIntent = {
      request,
      startedAt: clock.now() - ageMs,
      past: past && { ...past, lookedForMs: ageMs },
      claimed: (refs) => inbox.claimedRefs(refs),
      underWay: () => inbox.requestsUnderWay(claim, step.inFlightMs),
    };
    return this.#alone(step, request, async () => {
      for (;;) {
        const found = await step.find?.(intent);
        // What another process has adopted meanwhile is passed over when it is looked for anew.
        if (found === undefined || (await this.#records.adopt(step.name, found))) return found;
      }
    });
  }

  /** Puts the event off while the call may be under way: a wait in here would hold up other events. */
  #expectOver({ name, inFlightMs }: Step<unknown>, ageMs: number): void {
    const { clock, claim, shared } = this.#scope;
    const now = clock.now();
    // Never longer than a call takes, and that once, wherever our clock was when the intent was recorded.
    const leftMs = Math.min(inFlightMs - ageMs, inFlightMs);
    const end = Math.min(now + leftMs, shared.endOf(claim.id, name));
    if (end <= now) return;
    shared.rememberEnd(claim.id, name, end);
    const reason = `What an earlier run began as "${shown(name)}" may still be under way; it is looked for when it cannot be.`;
    throw new RetryLater(end - now, reason, { counts: false });
  }
}

/** What does no harm when it is made twice is not in doubt, nor what nobody wants to settle. */
function canBeInDoubt({ find, repeatable }: Step<unknown>, { assumeAbsent }: Past): boolean {
  return find !== undefined || !(repeatable || assumeAbsent);
}

/** @param name without what texts of people may be in it */
function stepSpan(name: string): SpanStart {
  return { name: `step ${name}`, kind: "internal", attributes: { "service_bot.step": name } };
}
