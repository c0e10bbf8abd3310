import { type Linked, LinkedSet, TransientMap } from "../core/churn.ts";
import type { BackoffOptions, Random } from "../core/clock.ts";
import { minOf } from "../core/extremes.ts";
import type { HandlerOptions } from "../core/option-checks.ts";
import { traceIdOf } from "../core/trace.ts";
import { ServiceBotError } from "../errors.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim, ClaimRooms } from "../inbox/inbox.ts";
import { traced, type WorkMessages, works } from "../observe/channels.ts";
import { Steps, type StepsOptions } from "../steps/steps.ts";
import { Conflicts } from "./conflicts.ts";
import { Deadlines } from "./deadlines.ts";
import {
  type DeadOutcome,
  decideOutcome,
  describeError,
  EndedRun,
  type Outcome,
  type OutcomeOptions,
  type RetryPolicy,
  type RunResult,
  recordOutcome,
  stopping,
} from "./outcome.ts";
import { type ClaimedEvent, RecentEvents } from "./recent-events.ts";
import { Abort, Run, type RunOptions } from "./run.ts";

export interface ActiveLanesOptions
  extends Omit<OutcomeOptions, "conflicts">,
    Omit<RunOptions, "steps" | "inbox" | "restore" | "deadlines">,
    Omit<StepsOptions, keyof OutcomeOptions> {
  readonly types: HandledTypes;
  /** Time limit of a run whose type has no limit of its own, in ms. */
  readonly handlerTimeoutMs: number;
  /** Maximum number of lanes handled at once. */
  readonly concurrency: number;
  /** Number of failed runs after which an event becomes a dead letter. */
  readonly maxAttempts: number;
  readonly backoff: BackoffOptions;
  readonly random: Random;
  readonly onEnd: () => void;
}

/** Time that a lane keeps its slot while other lanes wait for a slot, in ms. */
const MAX_TURN_MS = 250;

/**
 * Lanes that are being worked on. Runs the handlers for each lane's events one after the other, and records each
 * outcome.
 */
export class ActiveLanes {
  readonly limits: TypeLimits;
  readonly #options: ActiveLanesOptions;
  /** Options of runs, by their time limit in ms. */
  readonly #runOptions = new Map<number, RunOptions>();
  readonly #steps: Steps;
  readonly #outcomeOptions: OutcomeOptions;
  readonly #running = new LinkedSet<LaneRun>();
  /** The last run of each lane that has not ended. */
  readonly #lanes = new TransientMap<string, LaneRun>();
  readonly #recent = new RecentEvents();
  #isAbandoned = false;
  #isStopped = false;

  constructor(options: ActiveLanesOptions) {
    this.#options = options;
    this.limits = new TypeLimits(options.concurrency, options.types);
    this.#steps = new Steps(options);
    this.#outcomeOptions = { ...options, conflicts: new Conflicts(options) };
  }

  get size(): number {
    return this.#running.size;
  }

  /** Returns the texts that users wrote in one event, or in all recent ones. `undefined` if the event is not recent. */
  textsOf(event: string | undefined): readonly string[] | undefined {
    return this.#recent.textsOf(event, [...this.#running]);
  }

  /** Aborts every run and every later claim, because the events have moved to another inbox. No outcome is recorded. */
  abandon(): void {
    this.#isAbandoned = true;
    for (const { abort, claim } of this.#running) abort.abort(leaseLost(claim));
  }

  stop(): void {
    this.#isStopped = true;
    for (const { abort } of this.#running) abort.abort(stopping);
  }

  /** Resolves when no lane is being worked on. */
  async finished(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running].map(({ done }) => done));
  }

  /**
   * Starts the run of a claimed lane. A process that was suspended for longer than a lease may claim a lane that it is
   * still working on. It then aborts the older run. The new run begins once the older run has ended, because only one
   * run at a time may have effects.
   */
  begin(claim: Claim, since: number): void {
    const older = this.#lanes.get(claim.lane);
    older?.abort.abort(leaseLost(claim));
    const run = new LaneRun(claim, this.#abortBefore(claim), this.limits.enter(claim.type), since);
    this.#running.add(run);
    this.#lanes.set(claim.lane, run);
    run.done = this.#advanceLane(run, older?.done);
  }

  /** Creates the abort of a claim whose handlers have not started. A stopping bot starts no handlers. */
  #abortBefore(claim: Claim): Abort {
    const abort = this.#abortFor(claim);
    if (this.#options.stopping.aborted) abort.abort(stopping);
    return abort;
  }

  /** Creates a claim's abort. It has already fired if the bot has stopped or the events have moved to another inbox. */
  #abortFor(claim: Claim): Abort {
    const abort = new Abort();
    if (this.#isAbandoned) abort.abort(leaseLost(claim));
    if (this.#isStopped) abort.abort(stopping);
    return abort;
  }

  /** Handles the event, and then the lane's next events for as long as the lane may continue. */
  async #advanceLane(run: LaneRun, older: Promise<void> | undefined): Promise<void> {
    if (older !== undefined) await older;
    try {
      for (;;) {
        const next = await this.#traced(run);
        if (next === undefined) return;
        if (next.lane !== run.claim.lane) {
          this.begin(next, this.#options.clock.now());
          return;
        }
        run.claim = next;
        run.event = undefined;
        run.abort = this.#abortBefore(next);
        run.hasPlace = this.limits.enter(next.type);
        // This process has claimed the lane again, for a run that waits until this run has ended.
        if (this.#lanes.get(next.lane) !== run) run.abort.abort(leaseLost(next));
      }
    } catch (err) {
      const { id, trace } = run.claim;
      this.#options.log.error(
        { err, event: id, trace: traceIdOf(trace) },
        "a run was aborted by an unexpected error",
      );
    } finally {
      const { lane } = run.claim;
      this.#running.delete(run);
      if (this.#lanes.get(lane) === run) this.#lanes.delete(lane);
      this.#options.onEnd();
    }
  }

  #traced(run: LaneRun): Promise<Claim | undefined> {
    if (!works.run.hasSubscribers) return this.#handle(run, undefined);
    const { id: event, type, lane, attempt, source, late, trace } = run.claim;
    const message = () => {
      return { bot: this.#options.bot, event, type, lane, attempt, source, late, trace };
    };
    return traced(works.run, message, (work) => this.#handle(run, work));
  }

  /** Runs the handlers and records the outcome. Resolves to the next claim to handle. */
  async #handle(run: LaneRun, work: WorkMessages["run"] | undefined): Promise<Claim | undefined> {
    const { claim } = run;
    const { clock } = this.#options;
    const started = clock.now();
    try {
      const result = run.hasPlace ? await this.#run(run) : skipped;
      const ms = clock.now() - started;
      const mayContinue = () => this.#mayContinueLane(run);
      const ended = new EndedRun(claim, result, ms, mayContinue, work);
      return await recordOutcome(ended, this.#outcomeOptions);
    } finally {
      this.#recent.add(run);
      if (run.hasPlace) this.limits.leave(claim.type);
    }
  }

  /**
   * Returns whether the lane may continue without a new claim, which saves two writes per event. While other lanes wait
   * for a slot, it may continue only briefly. The lease is not extended.
   */
  #mayContinueLane({ since, claim }: LaneRun): boolean {
    if (this.#options.stopping.aborted) return false;
    const { clock, concurrency, leaseMs } = this.#options;
    const isAlone = this.#running.size < concurrency && !this.limits.isFull(claim.type);
    return clock.now() - since < (isAlone ? leaseMs / 3 : MAX_TURN_MS);
  }

  async #run(lane: LaneRun): Promise<RunResult> {
    const { claim, abort } = lane;
    const { maxAttempts = this.#options.maxAttempts } = this.#options.types.optionsFor(claim.type);
    // An attempt is counted before its handlers run. An attempt beyond the limit means that the process crashed in
    // every run, so only the boundary runs. One attempt more means that the process crashed in the boundary as well.
    if (claim.attempt > maxAttempts + 1) {
      return { outcome: { kind: "dead", error: crashed(claim, maxAttempts) } };
    }
    if (abort.reason === stopping) return skipped;
    let run: Run | undefined;
    try {
      if (abort.aborted) throw abort.reason;
      run = new Run(claim, abort, this.#runOptionsFor(claim));
      lane.event = run.event;
      if (claim.attempt > maxAttempts) throw crashed(claim, maxAttempts);
      const effects = await run.execute();
      return { outcome: { kind: "done", effects, skipped: run.skipped }, event: run.event };
    } catch (error) {
      const outcome = decideOutcome(error, claim.attempt, this.#policyFor(claim));
      if (outcome.kind !== "dead" || run === undefined) return { outcome, event: run?.event };
      return { outcome: await this.#runBoundary(lane, run, outcome), event: run.event };
    }
  }

  /**
   * Runs the boundary of an event that is about to become a dead letter. A failure of the boundary changes nothing. If
   * an outage caused the failure, the event is released for a later run, because otherwise the user would get no reply.
   */
  async #runBoundary(lane: LaneRun, run: Run, dead: DeadOutcome): Promise<Outcome> {
    const { claim, abort } = lane;
    const policy = this.#policyFor(claim);
    try {
      const boundary = run.boundary(dead.error);
      if (boundary === undefined) return dead;
      // The bot stopped, or the lease was lost, while the observers ran.
      if (abort.aborted && abort.reason !== dead.error) {
        return decideOutcome(abort.reason, claim.attempt, policy);
      }
      lane.abort = this.#abortFor(claim);
      const options = { ...this.#runOptionsFor(claim), handler: boundary };
      return { ...dead, effects: await new Run(claim, lane.abort, options).execute() };
    } catch (failure) {
      const outcome = decideOutcome(failure, claim.attempt, policy);
      if (outcome.kind === "release" || outcome.kind === "lost") return outcome;
      run.log.error(
        { err: describeError(failure, run.event, this.#options.scrub) },
        "a catch handler failed",
      );
    }
    return dead;
  }

  #policyFor({ type }: Claim): RetryPolicy {
    const { maxAttempts, backoff, random, types } = this.#options;
    const own = types.optionsFor(type);
    return {
      maxAttempts: own.maxAttempts ?? maxAttempts,
      backoff: { ...backoff, ...own.retry },
      random,
    };
  }

  #runOptionsFor({ type }: Claim): RunOptions {
    const { clock, handlerTimeoutMs } = this.#options;
    const { timeoutMs = handlerTimeoutMs } = this.#options.types.optionsFor(type);
    let options = this.#runOptions.get(timeoutMs);
    if (options === undefined) {
      const deadlines = new Deadlines(clock, timeoutMs);
      options = { ...this.#options, deadlines, steps: this.#steps };
      this.#runOptions.set(timeoutMs, options);
    }
    return options;
  }

  /** Extends the lanes' leases, and aborts the runs that have lost their leases. */
  async heartbeat(): Promise<void> {
    const runs = [...this.#running].map((run) => ({ run, claim: run.claim }));
    if (runs.length === 0) return;
    const claims = runs.map(({ claim }) => claim);
    const { inbox, leaseMs } = this.#options;
    const held = new Set(await inbox.extend(claims, leaseMs));
    for (const { run, claim } of runs) {
      // A lane that has continued in the meantime has another claim.
      if (!held.has(claim) && run.claim === claim) run.abort.abort(leaseLost(claim));
    }
  }
}

class LaneRun implements Linked<LaneRun>, ClaimedEvent {
  previous: LaneRun | undefined;
  next: LaneRun | undefined;
  claim: Claim;
  event: AnyEvent | undefined;
  abort: Abort;
  /** True if the event occupies one of its type's slots. */
  hasPlace: boolean;
  /** Time when the lane was claimed, on the dispatcher's clock. */
  readonly since: number;
  done: Promise<void> | undefined;

  constructor(claim: Claim, abort: Abort, hasPlace: boolean, since: number) {
    this.claim = claim;
    this.abort = abort;
    this.hasPlace = hasPlace;
    this.since = since;
  }
}

const skipped: RunResult = { outcome: { kind: "skipped" } };

function leaseLost(claim: Claim): ServiceBotError {
  return new ServiceBotError(
    "LEASE_LOST",
    `Another instance has taken the lease on ${claim.lane}.`,
  );
}

function crashed({ attempt, crashes }: Claim, maxAttempts: number): ServiceBotError {
  return new ServiceBotError(
    "HANDLER_CRASHED",
    `The event has used ${attempt - 1} of ${maxAttempts} attempts. The process ended during ` +
      `${crashes} of them. Run \`npx service-bot inbox show\` to see each run.`,
  );
}

export interface HandledTypes {
  /** Types with a handler of their own. */
  readonly handledTypes: readonly string[];
  /** True if a handler exists for all other types. */
  readonly handlesOtherTypes: boolean;
  optionsFor(type: string): HandlerOptions;
}

/** Share of the slots that stays free for other types. */
const RESERVED_SHARE = 1 / 4;

/** Number of types to remember, because each claim computes the capacity of each. */
const MAX_IDLE_TYPES = 100;

/** Limits how many events of one type are handled at once, so that a slow type leaves slots to other types. */
export class TypeLimits {
  readonly #concurrency: number;
  readonly #types: HandledTypes;
  readonly #taken = new Map<string, number>();

  /** @param concurrency number of slots for all types together, 1 or more */
  constructor(concurrency: number, types: HandledTypes) {
    this.#concurrency = concurrency;
    this.#types = types;
  }

  /**
   * Returns each type's capacity for a claim of `free` lanes. `undefined` if every type has capacity for all of them.
   */
  roomsFor(free: number): ClaimRooms | undefined {
    const types = new Set([...this.#limitedTypes(), ...this.#taken.keys()]);
    const byType = new Map(
      [...types].map((type) => [type, this.limitOf(type) - this.#takenOf(type)]),
    );
    const others = this.#usualLimit();
    return Math.min(others, minOf(byType.values())) < free ? { byType, others } : undefined;
  }

  /** Returns how many events of a type may be handled at once. */
  limitOf(type: string): number {
    const own = this.#types.optionsFor(type).concurrency;
    return own === undefined ? this.#usualLimit() : Math.min(own, this.#concurrency);
  }

  /** Takes a slot for an event. Returns false if its type has no free slot. */
  enter(type: string): boolean {
    if (this.isFull(type)) return false;
    this.#taken.set(type, this.#takenOf(type) + 1);
    return true;
  }

  leave(type: string): void {
    this.#taken.set(type, this.#takenOf(type) - 1);
    if (this.#taken.size > MAX_IDLE_TYPES) this.#forgetIdleTypes();
  }

  /** Returns whether a new event of the type would have to wait. */
  isFull(type: string): boolean {
    return this.#takenOf(type) >= this.limitOf(type);
  }

  /** A type without events has the same capacity whether it is in the map or not. */
  #forgetIdleTypes(): void {
    for (const [type, taken] of this.#taken) if (taken === 0) this.#taken.delete(type);
  }

  #takenOf(type: string): number {
    return this.#taken.get(type) ?? 0;
  }

  #limitedTypes(): readonly string[] {
    const { handledTypes } = this.#types;
    return handledTypes.filter((type) => this.#types.optionsFor(type).concurrency !== undefined);
  }

  /** A bot with only one type reserves no slots for other types. */
  #usualLimit(): number {
    const { handledTypes, handlesOtherTypes } = this.#types;
    const hasOneType = handledTypes.length < 2 && !handlesOtherTypes;
    if (hasOneType || this.#concurrency === 1) return this.#concurrency;
    return this.#concurrency - Math.max(1, Math.floor(this.#concurrency * RESERVED_SHARE));
  }
}

/** Returns whether a claim skips lanes because their first event's type is full. */
export function passesOver({ byType }: ClaimRooms): boolean {
  return [...byType.values()].some((room) => room <= 0);
}
