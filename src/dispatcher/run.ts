import { type Clock, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { type LoopWatch, loopWatch, WatchedRun } from "../core/loop-watch.ts";
import { duringEvent, traceIdOf } from "../core/trace.ts";
import { RunEffects, type RunEffectsOptions } from "../effects/run-effects.ts";
import { readStoredEvent } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Effects } from "../inbox/effects.ts";
import type { SkipReason } from "../inbox/event-records.ts";
import type { Claim } from "../inbox/inbox.ts";
import type { HeldResult } from "../steps/held-result.ts";
import type { RestoreWindow } from "../steps/restore.ts";
import type { Job, RunSteps, StepRunner } from "../steps/step.ts";
import type { Steps } from "../steps/steps.ts";
import { type Abort, stopping } from "./abort.ts";
import type { Deadlines } from "./deadlines.ts";

/** Time within which an aborted handler may still end, in ms. */
const ABORTED_GRACE_MS = 1_000;

/** Time after which the event continues without a slow error observer, in ms. */
const OBSERVER_TIMEOUT_MS = 1_000;

/** Handlers of a bot, or the boundary for one event. */
export interface JobHandler {
  begin(job: Job): HandlerRun;
}

/** The handlers' side of one run. */
export interface HandlerRun {
  /** Prepares the handlers within a few seconds. Their timeout begins afterwards. `undefined` if there is no need. */
  prepare(): Promise<void> | undefined;
  run(): Promise<void>;
  /** Notifies the observers of the run's error, which a handler threw or which reports an abort. */
  failed(error: unknown): Promise<void>;
  /** Returns the handler that runs before this error makes the event a dead letter. `undefined` without a boundary. */
  boundary(error: unknown): JobHandler | undefined;
  /** Reason why no handler ran. `undefined` if one did, and until `run` has ended. */
  readonly skipped: SkipReason | undefined;
}

/** Effects that the end of a run writes. */
export interface Requested {
  /** States and timers. `undefined` if there are none. */
  readonly effects: Effects | undefined;
  /** Result of a step that is not recorded yet. */
  readonly held: HeldResult | undefined;
}

export interface RunOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly steps: Steps;
  readonly inbox: RunEffectsOptions["inbox"];
  readonly restore?: Pick<RestoreWindow, "lostRunOf"> | undefined;
  /** The time of day. Default: the clock. */
  readonly wall?: Pick<Clock, "now"> | undefined;
  /** Default: the thread's watch. */
  readonly watch?: LoopWatch | undefined;
  /** The bot named in reports about blocks of the event loop. */
  readonly bot?: object | undefined;
}

/**
 * One run of a claimed event. The logger, the signal and the steps are created on first use. Creating them costs more
 * than the rest of the run, and most runs need none of them.
 */
export class Run implements Job {
  readonly event: AnyEvent;
  readonly claim: Claim;
  readonly handlers: HandlerRun;
  readonly #abort: Abort;
  readonly #options: RunOptions;
  #log: Logger | undefined;
  #steps: RunSteps | undefined;
  #effects: RunEffects | undefined;
  /** Effects that the handlers have requested when they end. */
  #collected: Effects | undefined;

  /** @throws {ServiceBotError} BODY_INVALID if the stored event cannot be read */
  constructor(claim: Claim, abort: Abort, handler: JobHandler, options: RunOptions) {
    this.event = claim.event ?? readStoredEvent(claim.body);
    this.claim = claim;
    this.#abort = abort;
    this.#options = options;
    this.handlers = handler.begin(this);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get log(): Logger {
    this.#log ??= this.#createLog();
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
      event,
      claim,
      inbox,
      now: () => wall.now(),
      isInDoubt: () => this.#options.restore?.lostRunOf(event, claim) !== undefined,
    });
    return this.#effects;
  }

  /**
   * Runs the handlers until they settle or the run is aborted. A run is aborted at its timeout, when its lease is lost,
   * or when the bot stops. The fence drops later writes of its handlers.
   *
   * @param deadlines sets the time limit once the handlers start
   * @throws the handlers' error, or the abort's reason
   */
  async execute(deadlines: Deadlines): Promise<Requested> {
    const { bot, watch = loopWatch } = this.#options;
    const current = new WatchedRun(this.claim, traceIdOf(this.claim.trace), bot, watch);
    // Associates the handler's requests with the event, for the log and for a platform on this machine.
    const running = duringEvent(current, () => this.#runHandlers(deadlines));
    try {
      await this.#abort.race(running);
      return await this.#requested();
    } catch (error) {
      // A handler that ends because of the signal throws an error of its own. The abort's reason is the actual cause.
      let reason = this.#abort.aborted ? this.#abort.reason : error;
      const hasFinished = this.#abort.aborted && (await this.#finishes(running));
      // A handler that ends while the bot stops has succeeded. A handler that ends after its timeout has failed.
      if (hasFinished && reason === stopping) return await this.#requested();
      try {
        await this.#steps?.recordResult();
      } catch (unrecorded) {
        // The event must run again, because only another run searches for the effect.
        if (reason !== stopping) reason = unrecorded;
      }
      await duringEvent(current, () => this.#notifyObservers(reason));
      throw reason;
    } finally {
      deadlines.delete(this.#abort);
      // A handler that hangs after its timeout would stay a suspect for ever.
      watch.delete(current);
    }
  }

  async #requested(): Promise<Requested> {
    const held = await this.#steps?.leaveResult();
    return { effects: this.#collected, held };
  }

  #createLog(): Logger {
    const { id, type, lane, attempt, trace } = this.claim;
    const fields = { event: id, type, lane, attempt, trace: traceIdOf(trace) };
    return this.#options.log.child(fields);
  }

  async #runHandlers(deadlines: Deadlines): Promise<void> {
    const preparation = this.handlers.prepare();
    if (preparation !== undefined) await preparation;
    if (this.#abort.aborted) throw this.#abort.reason;
    deadlines.add(this.#abort);
    await this.handlers.run();
    if (this.#effects !== undefined) this.#collected = await this.#effects.collect();
  }

  /** Neither a slow nor a failing observer affects the event. */
  async #notifyObservers(error: unknown): Promise<void> {
    const notified = this.handlers.failed(error).then(() => true);
    if (!(await this.#inTime(notified, OBSERVER_TIMEOUT_MS))) {
      this.log.warn(
        { ms: OBSERVER_TIMEOUT_MS },
        "an onError observer is slow; continuing without it",
      );
    }
  }

  /**
   * Gives an aborted handler time to end while the lease holds, so that its steps record their real results. Resolves
   * to true if it succeeded.
   */
  #finishes(running: Promise<void>): Promise<boolean> {
    const ended = running.then(
      () => true,
      () => false,
    );
    return this.#inTime(ended, ABORTED_GRACE_MS);
  }

  /** Resolves like the promise, or to false after `ms`. */
  async #inTime(promise: Promise<boolean>, ms: number): Promise<boolean> {
    const over = new AbortController();
    const late = sleep(this.#options.clock, ms, over.signal).then(() => false);
    return await Promise.race([promise, late]).finally(() => over.abort());
  }
}
