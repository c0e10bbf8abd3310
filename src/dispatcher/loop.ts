import type { BackoffOptions, Random } from "../core/backoff.ts";
import { type Clock, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { traceIdOf } from "../core/trace.ts";
import { ServiceBotError } from "../errors.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim, ClaimRooms, Inbox, Retention } from "../inbox/inbox.ts";
import { traced, type WorkMessages, works } from "../observe/channels.ts";
import type { RestoreWindow } from "../steps/restore.ts";
import { Steps } from "../steps/steps.ts";
import { decideOutcome, type Outcome, OutcomeRecorder, stopping } from "./outcome.ts";
import { Abort, type JobHandler, Run, type RunOptions } from "./run.ts";
import { type HandledTypes, passesOver, TypeLimits } from "./type-limits.ts";
import { every, keepUp } from "./upkeep.ts";

export interface DispatcherOptions {
  readonly inbox: Inbox;
  readonly handler: JobHandler;
  /** The types that are handled, and their options. Default: every type alike. */
  readonly types?: HandledTypes | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Lanes that are handled at once. */
  readonly concurrency: number;
  /** After this many failed runs an event goes to the dead letters. */
  readonly maxAttempts: number;
  /** Time of the handlers, in ms. */
  readonly handlerTimeoutMs: number;
  readonly backoff: BackoffOptions;
  readonly random?: Random;
  /** How long a claim holds without a sign of life, in ms. Default 30,000. */
  readonly leaseMs?: number | undefined;
  /** How long events are kept after their end; default for ever. */
  readonly retention?: Retention;
  /** Aborts when a bot that stops waits for the store no longer. */
  readonly deadline?: AbortSignal | undefined;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
  /** The restore of the inbox. `undefined` if never restored. */
  readonly restore?: Pick<RestoreWindow, "lostRunOf"> | undefined;
  /** Takes secrets out of what is stored and logged about a failure. */
  readonly scrub?: (text: string) => string;
}

/** In ms. A lane goes on by itself for this long while others wait for a place. */
const MAX_TURN_MS = 250;

/** In ms. The next claim waits this long after a failure of the store. */
const STORE_RETRY_MS = 1_000;

/** In ms. Lanes of full types hide when the others become ready, so the loop looks for these this often. */
const FULL_TYPE_INTERVAL_MS = 1_000;

/** The store takes a while to pass over many lanes. It rests this many times as long. */
const PASS_OVER_REST = 4;

/** Claims lanes, runs the handlers of their events, and records each outcome. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #outcomes: OutcomeRecorder;
  readonly #leaseMs: number;
  readonly #wake: Wake;
  /** Options of a run whose type has none of its own. */
  readonly #runOptions: RunOptions;
  readonly #running = new Set<LaneRun>();
  readonly #limits: TypeLimits;
  /** On the dispatcher's clock. No claim passes over lanes before. */
  #passOverAt = Number.NEGATIVE_INFINITY;
  /** The last run of each lane that has not ended. */
  readonly #lanes = new Map<string, LaneRun>();
  readonly #idleWaiters = new Set<() => void>();
  /** Aborted when nothing more is claimed. */
  readonly #draining = new AbortController();
  /** Aborted when nothing runs any more. */
  readonly #ended = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #background: Promise<unknown> = Promise.resolve();
  #unsubscribe: () => void = () => undefined;
  #abandoned = false;
  /** True from a claim that failed until the next one that did not. */
  #claimFails = false;

  constructor(options: DispatcherOptions) {
    const { inbox, clock, log, deadline, bot, types, scrub = (text) => text } = options;
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#outcomes = new OutcomeRecorder({
      inbox,
      clock,
      log,
      scrub,
      deadline,
      bot,
      stopping: this.#draining.signal,
    });
    this.#wake = new Wake(clock);
    this.#limits = new TypeLimits(options.concurrency, types);
    this.#runOptions = { ...options, steps: new Steps(options) };
  }

  /** The number of lanes at work. */
  get running(): number {
    return this.#running.size;
  }

  start(): void {
    this.#unsubscribe = this.#options.inbox.onReady(() => this.#wake.call());
    this.#loop = this.#claimLoop();
    const { signal } = this.#ended;
    this.#background = Promise.all([
      every(this.#leaseMs / 3, () => this.#heartbeat(), this.#options, signal),
      keepUp(this.#options, () => this.#wake.call(), signal),
    ]);
  }

  /** Resolves when no handler runs and no lane is ready; lanes that wait for a retry do not count. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.add(resolve);
      this.#wake.call();
    });
  }

  /** Takes no new work from now on. */
  stopClaiming(): void {
    this.#draining.abort();
    this.#unsubscribe();
    this.#wake.call();
  }

  /** Aborts every run, also of what is claimed meanwhile, because another inbox has the events. No outcome counts. */
  abandon(): void {
    this.#abandoned = true;
    this.stopClaiming();
    for (const { abort, claim } of this.#running) abort.abort(leaseLost(claim));
  }

  /**
   * Takes no new work, gives running handlers `graceMs` milliseconds, then aborts them and hands their
   * events back, so that the next start begins with them.
   */
  async drain(graceMs: number): Promise<void> {
    this.stopClaiming();
    const grace = new AbortController();
    // Before the loop has ended: a store that does not answer may hold it up.
    const over = sleep(this.#options.clock, graceMs, grace.signal);
    await this.#loop;
    this.#options.inbox.stopClaiming();
    const finished = Promise.all([...this.#running].map(({ done }) => done));
    await Promise.race([finished, over]);
    grace.abort();
    for (const { abort } of this.#running) abort.abort(stopping);
    await finished;
    this.#ended.abort();
    await this.#background;
    this.#announceIdle();
  }

  async #claimLoop(): Promise<void> {
    while (!this.#draining.signal.aborted) {
      const free = this.#options.concurrency - this.#running.size;
      const types = [...this.#running].map(({ claim }) => claim.type);
      const rooms = free <= 0 ? undefined : this.#limits.roomsFor(types, free);
      const isFull = rooms !== undefined && passesOver(rooms);
      const early = isFull ? this.#passOverAt - this.#options.clock.now() : 0;
      if (early > 0) {
        await this.#wake.wait(early);
        continue;
      }
      const started = await this.#claimOnce(free, rooms);
      if (started === 0 || started < free) await this.#rest(started, isFull);
    }
  }

  /** Starts as many claims as there are free places. */
  async #claimOnce(free: number, rooms: ClaimRooms | undefined): Promise<number> {
    if (free <= 0) return 0;
    const { inbox, clock } = this.#options;
    const since = clock.now();
    try {
      const claims = await inbox.claim(free, this.#leaseMs, rooms);
      const now = clock.now();
      if (rooms !== undefined && passesOver(rooms)) {
        this.#passOverAt = now + PASS_OVER_REST * (now - since);
      }
      this.#claimFails = false;
      for (const claim of claims) this.#begin(claim, since);
      return claims.length;
    } catch (err) {
      const level = this.#claimFails ? "debug" : "error";
      this.#claimFails = true;
      this.#options.log[level]({ err }, "events cannot be claimed");
      await sleep(this.#options.clock, STORE_RETRY_MS, this.#draining.signal);
      return 0;
    }
  }

  /** Waits until there may be more. Looking up that time costs less than a claim that finds nothing. */
  async #rest(started: number, isFull: boolean): Promise<void> {
    if (this.#running.size >= this.#options.concurrency) return await this.#wake.wait(undefined);
    const ms = await this.#options.inbox.nextReadyIn().catch(() => STORE_RETRY_MS);
    if (this.#running.size === 0 && ms !== 0) this.#announceIdle();
    // Another instance may hold a lane that is ready and was not claimed just now: wait instead of spinning.
    const hides = isFull && started === 0 && ms !== undefined;
    const waitMs = hides ? Math.max(ms, FULL_TYPE_INTERVAL_MS) : ms;
    if (started === 0 || ms !== 0) await this.#wake.wait(waitMs);
  }

  #announceIdle(): void {
    for (const resolve of this.#idleWaiters) resolve();
    this.#idleWaiters.clear();
  }

  /**
   * A process that stood still for longer than a lease may be handed a lane that it is still at work on. The older run is
   * aborted, and ends before the new one begins: two must not speak at once.
   */
  #begin(claim: Claim, since: number): void {
    const older = this.#lanes.get(claim.lane);
    older?.abort.abort(leaseLost(claim));
    const run: LaneRun = { claim, abort: this.#abortFor(claim), since, done: Promise.resolve() };
    this.#running.add(run);
    this.#lanes.set(claim.lane, run);
    run.done = this.#advanceLane(run, older?.done).finally(() => {
      this.#running.delete(run);
      if (this.#lanes.get(claim.lane) === run) this.#lanes.delete(claim.lane);
      this.#wake.call();
    });
  }

  /** Makes the abort of a claim: it has fired already if another inbox has the events. */
  #abortFor(claim: Claim): Abort {
    const abort = new Abort();
    if (this.#abandoned) abort.abort(leaseLost(claim));
    return abort;
  }

  /** Handles the event, and those behind it in the lane for as long as the lane may continue. */
  async #advanceLane(run: LaneRun, older: Promise<void> | undefined): Promise<void> {
    await older;
    try {
      for (;;) {
        const next = await this.#handle(run);
        if (next === undefined) return;
        run.claim = next;
        run.abort = this.#abortFor(next);
        // It was claimed before the stop began; its handlers have not begun.
        if (this.#draining.signal.aborted) run.abort.abort(stopping);
        // The lane was handed out anew meanwhile, to a run that waits for this one.
        if (this.#lanes.get(next.lane) !== run) run.abort.abort(leaseLost(next));
      }
    } catch (err) {
      const { id, trace } = run.claim;
      this.#options.log.error({ err, event: id, trace: traceIdOf(trace) }, "a run broke off");
    }
  }

  /** Runs the handlers and records the outcome. Resolves to the claim of the lane's next event if the lane goes on. */
  async #handle(run: LaneRun): Promise<Claim | undefined> {
    const { claim } = run;
    const message = () => {
      const { id: event, type, lane, attempt, source, late, trace } = claim;
      return { bot: this.#options.bot, event, type, lane, attempt, source, late, trace };
    };
    return await traced(works.run, message, async (work) => {
      const { clock } = this.#options;
      const started = clock.now();
      // A lane that goes on with an event of another type hands it back if that type has no place left.
      const hasPlace = this.#limits.enter(claim.type);
      try {
        const { outcome, event } = hasPlace ? await this.#run(run) : skipped;
        if (work !== undefined) completeWork(work, outcome);
        const ms = clock.now() - started;
        const mayContinue = this.#mayContinueLane(run);
        return await this.#outcomes.record({ claim, event, outcome, ms, mayContinue });
      } finally {
        if (hasPlace) this.#limits.leave(claim.type);
      }
    });
  }

  /**
   * A lane that goes on spares the store two writes per event. While others wait for a place it does so for a moment only,
   * and its lease is the one that it was claimed with.
   */
  #mayContinueLane({ since, claim }: LaneRun): boolean {
    if (this.#draining.signal.aborted) return false;
    const { clock, concurrency } = this.#options;
    const isAlone = this.#running.size < concurrency && !this.#limits.isFull(claim.type);
    return clock.now() - since < (isAlone ? this.#leaseMs / 3 : MAX_TURN_MS);
  }

  async #run({ claim, abort }: LaneRun): Promise<HandledEvent> {
    const own = this.#options.types?.optionsFor(claim.type) ?? {};
    const { maxAttempts = this.#options.maxAttempts, timeoutMs } = own;
    // The attempt was counted before the handlers ran. One beyond the limit means that the process ended while they ran,
    // every time.
    if (claim.attempt > maxAttempts) {
      return { outcome: { kind: "dead", error: crashed(claim, maxAttempts) } };
    }
    if (abort.reason === stopping) return skipped;
    let run: Run | undefined;
    try {
      if (abort.aborted) throw abort.reason;
      const options = this.#runOptions;
      run = new Run(
        claim,
        abort,
        timeoutMs === undefined ? options : { ...options, handlerTimeoutMs: timeoutMs },
      );
      await run.execute();
      return { outcome: { kind: "done" }, event: run.event };
    } catch (error) {
      const { backoff, random = Math.random } = this.#options;
      const policy = { maxAttempts, backoff: { ...backoff, ...own.retry }, random };
      return { outcome: decideOutcome(error, claim.attempt, policy), event: run?.event };
    }
  }

  /** Extends the leases of what is running; what has lost its lease is aborted. */
  async #heartbeat(): Promise<void> {
    const runs = [...this.#running].map((run) => ({ run, claim: run.claim }));
    if (runs.length === 0) return;
    const claims = runs.map(({ claim }) => claim);
    const held = new Set(await this.#options.inbox.extend(claims, this.#leaseMs));
    for (const { run, claim } of runs) {
      // One that has gone on meanwhile has another claim.
      if (!held.has(claim) && run.claim === claim) run.abort.abort(leaseLost(claim));
    }
  }
}

/** A lane that is at work. */
interface LaneRun {
  /** The event that is handled now. */
  claim: Claim;
  /** Ends the run of that event. */
  abort: Abort;
  /** When the lane was claimed, on the dispatcher's clock. */
  readonly since: number;
  done: Promise<void>;
}

/** An event after its run; without an event if its handlers did not begin. */
interface HandledEvent {
  readonly outcome: Outcome;
  readonly event?: AnyEvent | undefined;
}

const skipped: HandledEvent = { outcome: { kind: "skipped" } };

function completeWork(work: WorkMessages["run"], outcome: Outcome): void {
  work.outcome = outcome.kind === "skipped" ? "unbegun" : outcome.kind;
  // An event that is put off was not at fault.
  if (outcome.kind === "retry" || outcome.kind === "dead") work.error = outcome.error;
}

function leaseLost(claim: Claim): ServiceBotError {
  return new ServiceBotError(
    "LEASE_LOST",
    `The lease on ${claim.lane} was lost; somebody else has it.`,
  );
}

function crashed({ attempt, crashes }: Claim, maxAttempts: number): ServiceBotError {
  return new ServiceBotError(
    "HANDLER_CRASHED",
    `The event has had ${attempt - 1} runs, and ${maxAttempts} are permitted. The process ended during ` +
      `${crashes} of them; "service-bot inbox show" tells what became of the others.`,
  );
}

/** Lets one loop sleep until there is something to do. A call that comes too early is not lost. */
class Wake {
  readonly #clock: Clock;
  #isCalled = false;
  #wakeUp: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  call(): void {
    this.#isCalled = true;
    this.#wakeUp();
  }

  /** Resolves when called, or after `ms` milliseconds; without `ms` only when called. */
  async wait(ms: number | undefined): Promise<void> {
    if (!this.#isCalled) {
      const woken = Promise.withResolvers<void>();
      this.#wakeUp = woken.resolve;
      const cancel = ms === undefined ? undefined : this.#clock.timer(ms, woken.resolve);
      await woken.promise;
      cancel?.();
    }
    this.#isCalled = false;
  }
}
