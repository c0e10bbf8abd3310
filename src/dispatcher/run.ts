import { type Clock, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { duringEvent, traceIdOf } from "../core/trace.ts";
import { RunEffects, type RunEffectsOptions } from "../effects/run-effects.ts";
import { ServiceBotError } from "../errors.ts";
import { readStoredEvent } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Effects } from "../inbox/effects.ts";
import type { Claim } from "../inbox/inbox.ts";
import type { RestoreWindow } from "../steps/restore.ts";
import type { Job, StepRunner } from "../steps/step.ts";
import type { Steps } from "../steps/steps.ts";
import { stopping } from "./outcome.ts";

/** In ms. An aborted handler may still end within this. */
const ABORTED_GRACE_MS = 1_000;

/** In ms. After this the event goes on without the observers of its failure. */
const OBSERVER_TIMEOUT_MS = 1_000;

/** Runs handlers. */
export interface JobHandler {
  begin(job: Job): HandlerRun;
}

/** Runs the handlers of one job. */
export interface HandlerRun {
  /** Does what precedes the handlers, within a few seconds. Their time limit begins afterwards. */
  prepare?(): Promise<void> | undefined;
  run(): Promise<void>;
  /** Called with the error of the run, whether the handler threw it or ran out of time. */
  failed(error: unknown): Promise<void>;
  /** Returns what runs before the event becomes a dead letter because of this error; `undefined` if nothing does. */
  boundary?(error: unknown): JobHandler | undefined;
}

export interface RunOptions {
  readonly handler: JobHandler;
  readonly clock: Clock;
  readonly log: Logger;
  readonly handlerTimeoutMs: number;
  readonly steps: Steps;
  readonly inbox: RunEffectsOptions["inbox"];
  readonly restore?: Pick<RestoreWindow, "lostRunOf"> | undefined;
  /** The time of day. Default: the clock. */
  readonly wall?: Pick<Clock, "now"> | undefined;
}

/**
 * One run of a claimed event. Most runs need neither a logger, nor a signal, nor steps, so each is made when it is used
 * first: they cost more than everything else here.
 */
export class Run implements Job {
  readonly event: AnyEvent;
  readonly claim: Claim;
  readonly #abort: Abort;
  readonly #options: RunOptions;
  readonly #handlers: HandlerRun;
  #log: Logger | undefined;
  #steps: StepRunner | undefined;
  #effects: RunEffects | undefined;
  /** The effects as they were when the handlers had ended. */
  #collected: Effects | undefined;
  #cancelTimeout = () => {};

  /** @throws {ServiceBotError} BODY_INVALID when the stored event cannot be read */
  constructor(claim: Claim, abort: Abort, options: RunOptions) {
    this.event = readStoredEvent(claim.body);
    this.claim = claim;
    this.#abort = abort;
    this.#options = options;
    this.#handlers = options.handler.begin(this);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Returns what runs before the event becomes a dead letter because of this error; `undefined` if nothing does. */
  boundary(error: unknown): JobHandler | undefined {
    return this.#handlers.boundary?.(error);
  }

  get log(): Logger {
    const { id, type, lane, attempt, trace } = this.claim;
    const fields = { event: id, type, lane, attempt, trace: traceIdOf(trace) };
    this.#log ??= this.#options.log.child(fields);
    return this.#log;
  }

  get steps(): StepRunner {
    this.#steps ??= this.#options.steps.forJob(this);
    return this.#steps;
  }

  get effects(): RunEffects {
    const { inbox, clock, wall = clock } = this.#options;
    const { event, claim } = this;
    this.#effects ??= new RunEffects({
      ...{ event, claim, inbox },
      now: () => wall.now(),
      isInDoubt: () => this.#options.restore?.lostRunOf(event, claim) !== undefined,
    });
    return this.#effects;
  }

  /**
   * Runs the handlers until they settle or the run is aborted: at the handler timeout, when the lease is lost, or when the
   * bot stops. What a handler does after that is dropped by the fence.
   *
   * @returns what the handlers leave for later events; `undefined` for nothing
   * @throws the error of the handlers, or the reason of the abort
   */
  async execute(): Promise<Effects | undefined> {
    const current = { id: this.event.id, trace: traceIdOf(this.claim.trace) };
    // Requests carry the event: the log shows it, and a platform on this machine receives it.
    const running = duringEvent(current, () => this.#runHandlers());
    try {
      await this.#abort.race(running);
      return this.#collected;
    } catch (error) {
      // A handler that gives up because of the signal throws an error of its own; the reason says why.
      const reason = this.#abort.aborted ? this.#abort.reason : error;
      const hasFinished = this.#abort.aborted && (await this.#finishes(running));
      // A handler that ends while the bot stops has done its work; after a timeout it has failed all the same.
      if (hasFinished && reason === stopping) return this.#collected;
      await duringEvent(current, () => this.#notifyObservers(reason));
      throw reason;
    } finally {
      this.#cancelTimeout();
    }
  }

  async #runHandlers(): Promise<void> {
    const preparation = this.#handlers.prepare?.();
    if (preparation !== undefined) await preparation;
    const { clock, handlerTimeoutMs: ms } = this.#options;
    if (this.#abort.aborted) throw this.#abort.reason;
    this.#cancelTimeout = clock.timer(ms, () => this.#abort.abort(timeout(ms)));
    await this.#handlers.run();
    this.#collected = await this.#effects?.collect();
  }

  /** Observers watch. Neither their duration nor their end decides about the event. */
  async #notifyObservers(error: unknown): Promise<void> {
    const notified = this.#handlers.failed(error).then(() => true);
    if (!(await this.#inTime(notified, OBSERVER_TIMEOUT_MS))) {
      this.log.warn(
        { ms: OBSERVER_TIMEOUT_MS },
        "an onError observer is slow; continuing without it",
      );
    }
  }

  /**
   * Gives an aborted handler a moment to end while the lease still holds, so that its steps are recorded as what they
   * are. True when it ended well.
   */
  #finishes(running: Promise<void>): Promise<boolean> {
    const ended = running.then(
      () => true,
      () => false,
    );
    return this.#inTime(ended, ABORTED_GRACE_MS);
  }

  /** Resolves as the promise does; to false after `ms`. */
  async #inTime(promise: Promise<boolean>, ms: number): Promise<boolean> {
    const over = new AbortController();
    const late = sleep(this.#options.clock, ms, over.signal).then(() => false);
    return await Promise.race([promise, late]).finally(() => over.abort());
  }
}

/** Ends a run from outside. Its signal is made when it is used first, because it is dear and most runs need none. */
export class Abort {
  #controller: AbortController | undefined;
  #over: { readonly reason: unknown } | undefined;
  #reject: (reason: unknown) => void = () => undefined;

  get aborted(): boolean {
    return this.#over !== undefined;
  }

  get reason(): unknown {
    return this.#over?.reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over !== undefined) this.#controller.abort(this.#over.reason);
    return this.#controller.signal;
  }

  /** The first reason holds. */
  abort(reason: unknown): void {
    if (this.#over !== undefined) return;
    this.#over = { reason };
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  /** Settles as `work` does, or rejects with the reason when it is aborted before. For one work only. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#over !== undefined) reject(this.#over.reason);
      work.then(resolve, reject);
    });
  }
}

function timeout(ms: number): ServiceBotError {
  return new ServiceBotError(
    "HANDLER_TIMEOUT",
    `The handler did not finish within ${ms} ms. Pass ctx.signal to slow calls, or raise handlerTimeoutMs.`,
  );
}
