import { sleep } from "../core/clock.ts";
import { type Block, loopWatch, type Suspect } from "../core/loop-watch.ts";
import { Wake } from "../core/wake.ts";
import type { ClaimRooms, Retention } from "../inbox/inbox.ts";
import { type BlockSuspect, channels } from "../observe/channels.ts";
import { ActiveLanes, type ActiveLanesOptions } from "./active-lanes.ts";
import { passesOver } from "./type-limits.ts";
import { every, keepUp } from "./upkeep.ts";

export interface DispatcherOptions extends Omit<ActiveLanesOptions, "stopping" | "onEnd"> {
  readonly retention: Retention;
}

/** Wait after a failed claim, in ms. */
const STORE_RETRY_MS = 1_000;

/**
 * Poll interval, in ms. While lanes of full types are ready, the store cannot compute when other lanes become ready, so
 * the loop polls.
 */
const FULL_TYPE_INTERVAL_MS = 1_000;

/**
 * After a claim that skips lanes, the loop pauses for this many times the claim's duration, because skipping many lanes
 * is expensive for the store.
 */
const PASS_OVER_REST = 4;

/** Claims as many ready lanes as there are free slots, and extends their leases until they have ended. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #lanes: ActiveLanes;
  readonly #wake: Wake;
  /** Earliest time for a claim that skips lanes, on the dispatcher's clock. */
  #passOverAt = Number.NEGATIVE_INFINITY;
  readonly #idleWaiters = new Set<() => void>();
  /** Aborts when the loop stops claiming. */
  readonly #draining = new AbortController();
  /** Aborts when no lane is being worked on any longer. */
  readonly #ended = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #background: Promise<unknown> = Promise.resolve();
  #unsubscribe: () => void = () => undefined;
  #endWatch: () => void = () => undefined;
  #unwatchLeases: () => void = () => undefined;
  /** True from a failed claim until the next successful claim. */
  #claimFails = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
    const stopping = this.#draining.signal;
    this.#lanes = new ActiveLanes({ ...options, stopping, onEnd: () => this.#wake.call() });
  }

  get running(): number {
    return this.#lanes.size;
  }

  /** Returns the texts that users wrote in one event, or in all recent ones. `undefined` if the event is not recent. */
  textsOf(event: string | undefined): readonly string[] | undefined {
    return this.#lanes.textsOf(event);
  }

  start(): void {
    const { inbox, concurrency } = this.#options;
    // Without a free slot, no lane can be claimed. The end of a lane wakes the loop as well.
    this.#unsubscribe = inbox.onReady(() => {
      if (this.#lanes.size < concurrency) this.#wake.call();
    });
    const { watch = loopWatch } = this.#options;
    this.#endWatch = watch.subscribe((block) => publishBlock(block, this.#options.bot));
    // A failure means nothing, because the next heartbeat follows.
    const checkLeases = () => void this.#lanes.heartbeat().catch(() => undefined);
    this.#unwatchLeases = inbox.onLeasesInDoubt(checkLeases);
    this.#loop = this.#claimLoop();
    const { signal } = this.#ended;
    this.#background = Promise.all([
      every(this.#options.leaseMs / 3, () => this.#lanes.heartbeat(), this.#options, signal),
      keepUp(this.#options, () => this.#wake.call(), signal),
    ]);
  }

  /** Resolves when no handler runs and no lane is ready. Lanes that wait for a retry do not count. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.add(resolve);
      this.#wake.call();
    });
  }

  /** Stops claiming. */
  stopClaiming(): void {
    this.#draining.abort();
    this.#unsubscribe();
    this.#wake.call();
  }

  /** Aborts every run and every later claim, because the events have moved to another inbox. No outcome is recorded. */
  abandon(): void {
    this.stopClaiming();
    this.#lanes.abandon();
  }

  /**
   * Stops claiming and gives running handlers `graceMs` to end. Then aborts them and releases their events, so that the
   * bot handles these events first after its next start.
   */
  async drain(graceMs: number): Promise<void> {
    this.stopClaiming();
    const grace = new AbortController();
    // Starts before the loop has ended, because an unresponsive store may delay the loop's end.
    const over = sleep(this.#options.clock, graceMs, grace.signal);
    await this.#loop;
    this.#options.inbox.stopClaiming();
    const finished = this.#lanes.finished();
    await Promise.race([finished, over]);
    grace.abort();
    this.#lanes.stop();
    await finished;
    this.#ended.abort();
    this.#endWatch();
    this.#unwatchLeases();
    await this.#background;
    this.#announceIdle();
  }

  async #claimLoop(): Promise<void> {
    while (!this.#draining.signal.aborted) {
      const free = this.#options.concurrency - this.#lanes.size;
      const { limits } = this.#lanes;
      const rooms = free <= 0 ? undefined : limits.roomsFor(free);
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

  /** Claims up to `free` lanes and starts their runs. Returns the number of claims. */
  async #claimOnce(free: number, rooms: ClaimRooms | undefined): Promise<number> {
    if (free <= 0) return 0;
    const { inbox, clock, leaseMs } = this.#options;
    const since = clock.now();
    try {
      const claims = await inbox.claim(free, leaseMs, rooms);
      const now = clock.now();
      if (rooms !== undefined && passesOver(rooms)) {
        this.#passOverAt = now + PASS_OVER_REST * (now - since);
      }
      this.#claimFails = false;
      for (const claim of claims) this.#lanes.begin(claim, since);
      return claims.length;
    } catch (err) {
      const level = this.#claimFails ? "debug" : "error";
      this.#claimFails = true;
      this.#options.log[level]({ err }, "could not claim events; retrying");
      await sleep(this.#options.clock, STORE_RETRY_MS, this.#draining.signal);
      return 0;
    }
  }

  /** Waits until a lane may be ready. Looking up that time costs less than a claim that finds no lane. */
  async #rest(started: number, isFull: boolean): Promise<void> {
    if (this.#lanes.size >= this.#options.concurrency) return await this.#wake.wait(undefined);
    const ms = await this.#options.inbox.nextReadyIn().catch(() => STORE_RETRY_MS);
    if (this.#lanes.size === 0 && ms !== 0) this.#announceIdle();
    // Ready lanes that were not claimed most likely have full types. Waiting avoids a busy loop.
    const hides = isFull && started === 0 && ms !== undefined;
    const waitMs = hides ? Math.max(ms, FULL_TYPE_INTERVAL_MS) : ms;
    if (started === 0 || ms !== 0) await this.#wake.wait(waitMs);
  }

  #announceIdle(): void {
    for (const resolve of this.#idleWaiters) resolve();
    this.#idleWaiters.clear();
  }
}

/** More suspects would only make the log's line longer. */
const MAX_SUSPECTS = 100;

/** Publishes a block, unless only other bots' handlers may have caused it. */
function publishBlock({ ms, isCertain, suspects }: Block, bot: object | undefined): void {
  const own = suspects.filter(({ run }) => run === undefined || run.bot === bot);
  if (own.length === 0 && suspects.length > 0) return;
  channels.blocked.publish({
    bot,
    ms: Math.round(ms),
    isCertain,
    suspects: own.slice(0, MAX_SUSPECTS).map(describeSuspect),
  });
}

function describeSuspect({ run, handler }: Suspect): BlockSuspect {
  if (run === undefined) return { handler };
  const { id: event, type, lane, attempt, trace } = run;
  return { handler, event, type, lane, attempt, trace };
}
