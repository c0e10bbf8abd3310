import { type Clock, sleep } from "../core/clock.ts";
import type { HandlerOptions } from "../core/job.ts";
import type { Logger } from "../core/logger.ts";
import { scrubber } from "../core/redact.ts";
import { traceIdOf } from "../core/trace.ts";
import type { Tracing } from "../core/tracing.ts";
import { ServiceBotError } from "../errors.ts";
import { parseEventText, textsOf } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";
import { shown } from "../steps/certainty.ts";
import type { Job } from "../steps/job.ts";
import type { Shared } from "../steps/shared.ts";
import type { Past } from "../steps/step.ts";
import { DurableSteps, type EndedStep } from "../steps/steps.ts";
import type { Abort } from "./abort.ts";
import { stopping } from "./verdict.ts";

/** What a handler still gets after it was aborted, in milliseconds. */
const ABORTED_GRACE_MS = 1_000;

/** What observers of a failure get before the event goes on without them, in milliseconds. */
const OBSERVER_MS = 1_000;

export type EventJob = Job<AnyEvent>;

/** What runs the handlers. */
export interface JobHandler {
  /** Does what precedes the handlers, within a few seconds. Their time limit begins afterwards. */
  prepare?(job: EventJob): Promise<void> | undefined;
  run(job: EventJob): Promise<void>;
  /** The types that have a handler. */
  readonly handledTypes?: readonly string[];
  /** True if types without a handler of their own are handled, too. */
  readonly handlesOtherTypes?: boolean;
  /** What the handlers of a type have set otherwise than the bot. */
  optionsFor?(type: string): HandlerOptions;
  /** Told what a run ended with, whether the handler threw it or ran out of time. */
  failed(error: unknown, job: EventJob): Promise<void>;
  /** Called with each step of an event that has ended well. */
  stepEnded?(event: AnyEvent, end: EndedStep & { readonly step: string }): void;
  /** Told when nothing more is said about a run, however it ended. */
  over?(job: EventJob): void;
}

export interface RunOptions {
  readonly inbox: Inbox;
  readonly handler: JobHandler;
  readonly clock: Clock;
  readonly log: Logger;
  readonly handlerTimeoutMs: number;
  readonly shared: Shared;
  readonly tracing?: Tracing | undefined;
  /** What may have been done for an event before the inbox was restored; undefined: it was not. */
  readonly pastOf?: PastOf | undefined;
}

/** What may have been done for an event of which the inbox knows nothing; undefined: nothing. */
export type PastOf = (event: AnyEvent, claim: Claim) => Promise<Past | undefined>;

/** Reads the claimed event and makes the job of it. @throws when the stored event cannot be read */
export function makeJob(claim: Claim, abort: Abort, options: RunOptions): EventJob {
  const parsed = parseEventText(claim.body);
  if (!parsed.ok)
    throw new ServiceBotError("BODY_INVALID", `The event cannot be read: ${parsed.reason}`);
  return new ClaimedJob(parsed.event, claim, abort, options);
}

/** What a run may ask for and most do not is made when it does: it costs more than all else here. */
class ClaimedJob implements EventJob {
  readonly event: AnyEvent;
  readonly #claim: Claim;
  readonly #abort: Abort;
  readonly #options: RunOptions;
  #log: Logger | undefined;
  #steps: DurableSteps | undefined;

  constructor(event: AnyEvent, claim: Claim, abort: Abort, options: RunOptions) {
    this.event = event;
    this.#claim = claim;
    this.#abort = abort;
    this.#options = options;
  }

  get attempt(): number {
    return this.#claim.attempt;
  }

  get source(): Claim["source"] {
    return this.#claim.source;
  }

  get late(): boolean {
    return this.#claim.late;
  }

  get trace(): string | undefined {
    return traceIdOf(this.#claim.trace);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get log(): Logger {
    const { id, type, lane, attempt } = this.#claim;
    this.#log ??= this.#options.log.child({ event: id, type, lane, attempt, trace: this.trace });
    return this.#log;
  }

  get steps(): DurableSteps {
    this.#steps ??= this.#makeSteps();
    return this.#steps;
  }

  #noteStep(step: string, end: EndedStep): void {
    this.#options.handler.stepEnded?.(this.event, { step, ...end });
    // A logger with the fields of the event is dear, and most bots do not log this much.
    if (!this.#options.log.isLevelEnabled("debug")) return;
    const { outcome, ref } = end;
    this.log.debug({ step, outcome, ref }, "step");
  }

  #makeSteps(): DurableSteps {
    const { inbox, clock, shared, tracing, pastOf } = this.#options;
    const { signal } = this.#abort;
    const log = () => this.log;
    return new DurableSteps({
      ...{ inbox, claim: this.#claim, clock, signal, shared, tracing },
      // A name is the bot's own; what it quotes of what people wrote is told to nobody.
      nameOf: (step) => scrubber(textsOf(this.event))(shown(step)),
      ended: (step, end) => this.#noteStep(step, end),
      past: pastOf && (() => pastOf(this.event, this.#claim)),
      get log() {
        return log();
      },
    });
  }
}

/**
 * Runs the handlers until they settle or `abort` fires, whichever comes first: at the handler timeout,
 * when the lease is lost, or when the bot stops. What a handler does after that is dropped by the fence.
 */
export async function runJob(job: EventJob, abort: Abort, options: RunOptions): Promise<void> {
  const { handlerTimeoutMs, clock } = options;
  let cancel = () => {};
  const run = async () => {
    const preparation = options.handler.prepare?.(job);
    if (preparation !== undefined) await preparation;
    if (abort.aborted) throw abort.reason;
    cancel = clock.timer(handlerTimeoutMs, () => abort.abort(timeout(handlerTimeoutMs)));
    await options.handler.run(job);
  };
  const running = run();
  try {
    await abort.race(running);
  } catch (error) {
    // A handler that gives up because of the signal throws an error of its own; ours says why.
    const reason = abort.aborted ? abort.reason : error;
    const finished = abort.aborted && (await finishes(running, clock));
    // What is done when the bot stops is done; after a timeout it counts as failed all the same.
    if (finished && reason === stopping) return;
    await tell(reason, job, options);
    throw reason;
  } finally {
    cancel();
    options.handler.over?.(job);
  }
}

/** Observers watch; how long they take, or whether they end at all, must not decide what becomes of the event. */
async function tell(error: unknown, job: EventJob, options: RunOptions): Promise<void> {
  const told = options.handler.failed(error, job).then(() => true);
  if (!(await inTime(told, OBSERVER_MS, options.clock))) {
    job.log.warn({ ms: OBSERVER_MS }, "an onError observer takes long; it is not waited for");
  }
}

/**
 * Gives an aborted handler a moment to end while the lease still holds, so that its steps are
 * recorded as what they are. True when it ended well.
 */
function finishes(running: Promise<void>, clock: Clock): Promise<boolean> {
  const ended = running.then(
    () => true,
    () => false,
  );
  return inTime(ended, ABORTED_GRACE_MS, clock);
}

/** What the promise resolves to, or false when that takes longer than `ms`. */
async function inTime(promise: Promise<boolean>, ms: number, clock: Clock): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(clock, ms, over.signal).then(() => false);
  return await Promise.race([promise, late]).finally(() => over.abort());
}

function timeout(ms: number): ServiceBotError {
  return new ServiceBotError(
    "HANDLER_TIMEOUT",
    `The handler did not finish within ${ms} ms. Pass ctx.signal to what it waits for, or raise handlerTimeoutMs.`,
  );
}
