import { LinkedSet, TransientMap } from "../core/churn.ts";
import { traceIdOf } from "../core/trace.ts";
import type { Claim } from "../inbox/inbox.ts";
import { traced, type WorkMessages, works } from "../observe/channels.ts";
import { Abort, leaseLost, stopping } from "./abort.ts";
import { ActiveLane } from "./active-lane.ts";
import { Attempts, type AttemptsOptions } from "./attempts.ts";
import type { Outcome } from "./outcome.ts";
import { RecentEvents } from "./recent-events.ts";
import { OutcomeRecorder, type RecorderOptions } from "./record.ts";
import { TypeLimits } from "./type-limits.ts";

export interface ActiveLanesOptions
  extends Omit<AttemptsOptions, "abortFor">,
    Omit<RecorderOptions, "mayContinue"> {
  /** Maximum number of lanes handled at once. */
  readonly concurrency: number;
  /** Called when a lane has ended. */
  readonly onEnd: () => void;
}

/** Time that a lane keeps its slot while other lanes wait for a slot, in ms. */
const MAX_TURN_MS = 250;

/** The event's type has no free slot. */
const NO_SLOT: Outcome = { kind: "skipped" };

/** Lanes that are being worked on. Handles each lane's events one after the other, and records each outcome. */
export class ActiveLanes {
  readonly limits: TypeLimits;
  readonly #options: ActiveLanesOptions;
  readonly #attempts: Attempts;
  readonly #recorder: OutcomeRecorder;
  readonly #running = new LinkedSet<ActiveLane>();
  /** The latest claim of each lane that is being worked on. */
  readonly #latest = new TransientMap<string, ActiveLane>();
  readonly #recent = new RecentEvents();
  #isAbandoned = false;
  #isStopped = false;

  constructor(options: ActiveLanesOptions) {
    this.#options = options;
    this.limits = new TypeLimits(options.concurrency, options.types);
    this.#attempts = new Attempts({ ...options, abortFor: (claim) => this.#abortFor(claim) });
    const mayContinue = (lane: ActiveLane) => this.#mayContinue(lane);
    this.#recorder = new OutcomeRecorder({ ...options, mayContinue });
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
    while (this.#running.size > 0) await Promise.all([...this.#running].map(({ ended }) => ended));
  }

  /**
   * Starts to work on a claimed lane. A process that was suspended for longer than a lease may claim a lane that it is
   * still working on. It then aborts the older run. The new run begins once the older run has ended, because only one
   * run at a time may have effects.
   *
   * @param since time when the lane was claimed, on the dispatcher's clock
   */
  begin(claim: Claim, since: number): void {
    const older = this.#latest.get(claim.lane);
    older?.abort.abort(leaseLost(claim));
    const hasSlot = this.limits.enter(claim.type);
    const lane = new ActiveLane(claim, this.#abortBefore(claim), hasSlot, since);
    this.#running.add(lane);
    this.#latest.set(claim.lane, lane);
    lane.ended = this.#workOn(lane, older?.ended);
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
  async #workOn(lane: ActiveLane, older: Promise<void> | undefined): Promise<void> {
    if (older !== undefined) await older;
    try {
      for (;;) {
        const next = await this.#handleTraced(lane);
        if (next === undefined) return;
        if (next.lane !== lane.claim.lane) {
          this.begin(next, this.#options.clock.now());
          return;
        }
        lane.claim = next;
        lane.event = undefined;
        lane.abort = this.#abortBefore(next);
        lane.hasSlot = this.limits.enter(next.type);
        // This process has claimed the lane again, for a run that waits until this run has ended.
        if (this.#latest.get(next.lane) !== lane) lane.abort.abort(leaseLost(next));
      }
    } catch (err) {
      const { id, trace } = lane.claim;
      this.#options.log.error(
        { err, event: id, trace: traceIdOf(trace) },
        "a run was aborted by an unexpected error",
      );
    } finally {
      const name = lane.claim.lane;
      this.#running.delete(lane);
      if (this.#latest.get(name) === lane) this.#latest.delete(name);
      this.#options.onEnd();
    }
  }

  #handleTraced(lane: ActiveLane): Promise<Claim | undefined> {
    if (!works.run.hasSubscribers) return this.#handle(lane, undefined);
    const { id: event, type, lane: name, attempt, source, late, trace } = lane.claim;
    const message = () => {
      return { bot: this.#options.bot, event, type, lane: name, attempt, source, late, trace };
    };
    return traced(works.run, message, (work) => this.#handle(lane, work));
  }

  /** Handles the lane's event and records the outcome. Resolves to the next claim to handle. */
  async #handle(
    lane: ActiveLane,
    work: WorkMessages["run"] | undefined,
  ): Promise<Claim | undefined> {
    const { clock } = this.#options;
    const started = clock.now();
    try {
      const outcome = lane.hasSlot ? await this.#attempts.handle(lane) : NO_SLOT;
      return await this.#recorder.record(lane, outcome, clock.now() - started, work);
    } finally {
      this.#recent.add(lane);
      if (lane.hasSlot) this.limits.leave(lane.claim.type);
    }
  }

  /**
   * Returns whether the lane may continue without a new claim, which saves two writes per event. While other lanes wait
   * for a slot, it may continue only briefly. The lease is not extended.
   */
  #mayContinue({ since, claim }: ActiveLane): boolean {
    if (this.#options.stopping.aborted) return false;
    const { clock, concurrency, leaseMs } = this.#options;
    const isAlone = this.#running.size < concurrency && !this.limits.isFull(claim.type);
    return clock.now() - since < (isAlone ? leaseMs / 3 : MAX_TURN_MS);
  }

  /** Extends the lanes' leases, and aborts the runs that have lost their leases. */
  async heartbeat(): Promise<void> {
    const lanes = [...this.#running].map((lane) => ({ lane, claim: lane.claim }));
    if (lanes.length === 0) return;
    const claims = lanes.map(({ claim }) => claim);
    const { inbox, leaseMs } = this.#options;
    const held = new Set(await inbox.extend(claims, leaseMs));
    for (const { lane, claim } of lanes) {
      // A lane that has continued in the meantime has another claim.
      if (!held.has(claim) && lane.claim === claim) lane.abort.abort(leaseLost(claim));
    }
  }
}
