import type { BackoffOptions, Random } from "../core/backoff.ts";
import { type Clock, sleep } from "../core/clock.ts";
import type { HandlerOptions } from "../core/job.ts";
import type { Logger } from "../core/logger.ts";
import type { Observer } from "../core/observer.ts";
import { traceIdOf } from "../core/trace.ts";
import { inSpan, type Tracing } from "../core/tracing.ts";
import { ServiceBotError } from "../errors.ts";
import type { Claim, ClaimRooms, Inbox, Retention } from "../inbox/inbox.ts";
import { Shared } from "../steps/shared.ts";
import { Abort } from "./abort.ts";
import { type JobHandler, makeJob, type PastOf, type RunOptions, runJob } from "./run.ts";
import { Settlement } from "./settlement.ts";
import { processSpan, tellVerdict } from "./spans.ts";
import { passesOver, TypePlaces } from "./type-places.ts";
import { every, keepUp } from "./upkeep.ts";
import { judge, type RetryPolicy, stopping, type Verdict } from "./verdict.ts";
import { Wake } from "./wake.ts";

export interface DispatcherOptions {
  readonly inbox: Inbox;
  readonly handler: JobHandler;
  readonly clock: Clock;
  readonly log: Logger;
  /** How many lanes are handled at once. */
  readonly concurrency: number;
  /** After this many runs that failed an event goes to the dead letters. */
  readonly maxAttempts: number;
  /** How long a handler may run, in milliseconds. */
  readonly handlerTimeoutMs: number;
  readonly backoff: BackoffOptions;
  readonly random?: Random;
  /** How long a claim holds without a sign of life, in milliseconds. Default 30,000. */
  readonly leaseMs?: number;
  /** How long what has ended is kept; for ever by default. */
  readonly retention?: Retention;
  /** When it aborts, what became of events is not written with patience any more. */
  readonly deadline?: AbortSignal | undefined;
  readonly tracing?: Tracing | undefined;
  /** What may have been done for an event before the inbox was restored from a backup. */
  readonly pastOf?: PastOf | undefined;
  /** Takes secrets and the given texts out of what is stored and logged about a failure. */
  readonly scrub?: (text: string) => string;
  readonly observer?: Observer | undefined;
}

/** So long a lane goes on by itself while others wait for a place, in milliseconds. */
const TURN_MS = 250;

/** After a failure of the store the next claim waits this long, in milliseconds. */
const STORE_RETRY_MS = 1_000;

/** In ms. Lanes of full types hide when the others become ready, so these are looked for this often. */
const FULL_TYPE_INTERVAL_MS = 1_000;

/** To pass over many lanes takes the store a while. It rests this many times as long. */
const PASS_OVER_REST = 4;

/** Claims lanes, runs handlers, and writes down what became of each event. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #settlement: Settlement;
  readonly #leaseMs: number;
  readonly #wake: Wake;
  /** What runs with, unless its type has options of its own. */
  readonly #usual: RunOptions;
  readonly #running = new Set<LaneRun>();
  readonly #places: TypePlaces;
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

  constructor(options: DispatcherOptions) {
    const { inbox, clock, log, deadline, observer, scrub = (text) => text } = options;
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#settlement = new Settlement({
      inbox,
      clock,
      log,
      scrub,
      deadline,
      observer,
      stopping: this.#draining.signal,
    });
    this.#wake = new Wake(clock);
    this.#places = new TypePlaces(options.concurrency, options.handler);
    this.#usual = { ...options, shared: new Shared() };
  }

  /** How many lanes are at work now. */
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

  /** The events are somebody else's: what runs is aborted, and so is what was claimed meanwhile; nothing of it counts. */
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
    // From now on: a store that does not answer may hold up the loop.
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
      const rooms = free <= 0 ? undefined : this.#places.roomsFor(types, free);
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
      for (const claim of claims) this.#begin(claim, since);
      return claims.length;
    } catch (err) {
      this.#options.log.error({ err }, "events cannot be claimed");
      await sleep(this.#options.clock, STORE_RETRY_MS, this.#draining.signal);
      return 0;
    }
  }

  /** Waits until there may be more. To look when that is costs less than a claim that finds nothing. */
  async #rest(started: number, isFull: boolean): Promise<void> {
    if (this.#running.size >= this.#options.concurrency) return await this.#wake.wait(undefined);
    const ms = await this.#options.inbox.nextReadyIn().catch(() => STORE_RETRY_MS);
    if (this.#running.size === 0 && ms !== 0) this.#announceIdle();
    // What is ready and was not claimed just now may be somebody else's: that is not asked for without a pause.
    const hides = isFull && started === 0 && ms !== undefined;
    const waitMs = hides ? Math.max(ms, FULL_TYPE_INTERVAL_MS) : ms;
    if (started === 0 || ms !== 0) await this.#wake.wait(waitMs);
  }

  #announceIdle(): void {
    for (const resolve of this.#idleWaiters) resolve();
    this.#idleWaiters.clear();
  }

  /**
   * A process that stood still for longer than a lease may be handed a lane that it is still at work on.
   * The run before is told to end, and has, before the new one begins: two must not speak at once.
   */
  #begin(claim: Claim, since: number): void {
    const older = this.#lanes.get(claim.lane);
    older?.abort.abort(leaseLost(claim));
    const run: LaneRun = { claim, abort: this.#abortFor(claim), since, done: Promise.resolve() };
    this.#running.add(run);
    this.#lanes.set(claim.lane, run);
    run.done = this.#follow(run, older?.done).finally(() => {
      this.#running.delete(run);
      if (this.#lanes.get(claim.lane) === run) this.#lanes.delete(claim.lane);
      this.#wake.call();
    });
  }

  /** What ends the run of a claim: it has done so where the events are somebody else's by now. */
  #abortFor(claim: Claim): Abort {
    const abort = new Abort();
    if (this.#abandoned) abort.abort(leaseLost(claim));
    return abort;
  }

  /** Handles the event, and those behind it in the lane for as long as it may have its place. */
  async #follow(run: LaneRun, older: Promise<void> | undefined): Promise<void> {
    await older;
    try {
      for (;;) {
        const next = await this.#handleInPlace(run);
        if (next === undefined) return;
        run.claim = next;
        run.abort = this.#abortFor(next);
        // It was asked for before there was no new work; it has not begun.
        if (this.#draining.signal.aborted) run.abort.abort(stopping);
        // The lane was handed out anew meanwhile, to a run that waits for this one.
        if (this.#lanes.get(next.lane) !== run) run.abort.abort(leaseLost(next));
      }
    } catch (err) {
      const { id, trace } = run.claim;
      this.#options.log.error({ err, event: id, trace: traceIdOf(trace) }, "a run broke off");
    }
  }

  /** A lane that goes on with an event of another type hands it back if that type has no place left. */
  async #handleInPlace(run: LaneRun): Promise<Claim | undefined> {
    const { type } = run.claim;
    const hasPlace = this.#places.take(type);
    try {
      return await this.#handle(run, hasPlace);
    } finally {
      if (hasPlace) this.#places.free(type);
    }
  }

  /** Resolves to the claim of the lane's next event, where it goes on. */
  async #handle(run: LaneRun, hasPlace: boolean): Promise<Claim | undefined> {
    const { clock, tracing } = this.#options;
    const { claim } = run;
    return await inSpan(
      tracing,
      () => processSpan(claim),
      async (span) => {
        const started = clock.now();
        const verdict: Verdict = hasPlace ? await this.#run(run) : { kind: "unbegun" };
        if (span !== undefined) tellVerdict(span, verdict);
        const ms = clock.now() - started;
        return await this.#settlement.write(claim, verdict, ms, () => this.#mayGoOn(run));
      },
    );
  }

  /**
   * A lane that goes on spares the store two writes per event. While others wait for a place it has its own for
   * a moment only; and its lease is the one that it was claimed with.
   */
  #mayGoOn({ since, claim }: LaneRun): boolean {
    if (this.#draining.signal.aborted) return false;
    const { clock, concurrency } = this.#options;
    const alone = this.#running.size < concurrency && !this.#places.isFull(claim.type);
    return clock.now() - since < (alone ? this.#leaseMs / 3 : TURN_MS);
  }

  async #run({ claim, abort }: LaneRun): Promise<Verdict> {
    const own = this.#options.handler.optionsFor?.(claim.type) ?? {};
    const { maxAttempts = this.#options.maxAttempts } = own;
    // The attempt was counted before the handler ran; more than the limit means that the process
    // ended while it ran, every time.
    if (claim.attempt > maxAttempts) return { kind: "dead", error: crashed(claim, maxAttempts) };
    if (abort.reason === stopping) return { kind: "unbegun" };
    try {
      if (abort.aborted) throw abort.reason;
      const options = this.#runOptions(own);
      await runJob(makeJob(claim, abort, options), abort, options);
      return { kind: "done" };
    } catch (error) {
      return judge(error, claim.attempt, this.#policyFor(own));
    }
  }

  #runOptions({ timeoutMs }: HandlerOptions): RunOptions {
    if (timeoutMs === undefined) return this.#usual;
    return { ...this.#usual, handlerTimeoutMs: timeoutMs };
  }

  #policyFor({ maxAttempts, retry }: HandlerOptions): RetryPolicy {
    const options = this.#options;
    return {
      maxAttempts: maxAttempts ?? options.maxAttempts,
      backoff: { ...options.backoff, ...retry },
      random: options.random ?? Math.random,
    };
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
  /** Of the event that is handled now. */
  claim: Claim;
  /** Ends what is handled now. */
  abort: Abort;
  /** When the lane was claimed, on the dispatcher's clock. */
  readonly since: number;
  done: Promise<void>;
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
