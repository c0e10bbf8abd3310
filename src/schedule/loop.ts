import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { Wake } from "../core/wake.ts";

export interface LookLoopOptions {
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Maximum time between two checks, in ms. Another instance may have set a timer, or the machine's clock may have been
 * corrected.
 */
const LOOK_INTERVAL_MS = 15_000;

/** Wait after the store has failed, in ms. */
const STORE_RETRY_MS = 1_000;

/** Checks for due items, and sleeps until the next item is due. */
export abstract class LookLoop {
  readonly #options: LookLoopOptions;
  readonly #wake: Wake;
  readonly #stopping = new AbortController();
  readonly #waiters = new Set<() => void>();
  /** Time of the next check, on `clock`. */
  #nextAt = Number.POSITIVE_INFINITY;
  #loop: Promise<void> = Promise.resolve();
  #isRunning = false;
  #isFailing = false;

  constructor(options: LookLoopOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
  }

  /**
   * Processes due items. Resolves to the time in ms until the next item is due (0: now), or to `undefined` if no item
   * is planned.
   */
  protected abstract look(): Promise<number | undefined>;

  /** Resolves after the first check, even if it failed. */
  async start(): Promise<void> {
    this.#isRunning = true;
    const firstLook = Promise.withResolvers<void>();
    this.#loop = this.#run(firstLook.resolve);
    await firstLook.promise;
  }

  /** Prevents further checks. */
  close(): void {
    this.#stopping.abort();
    this.#wake.call();
  }

  /** Resolves after the current check. */
  async stop(): Promise<void> {
    this.close();
    await this.#loop;
  }

  /** Schedules an earlier check, in `inMs` milliseconds. */
  plan(inMs: number): void {
    const at = this.#options.clock.now() + inMs;
    if (at >= this.#nextAt) return;
    this.#nextAt = at;
    this.#wake.call();
  }

  /** Resolves after a check that leaves no item due. */
  async settled(): Promise<void> {
    if (!this.#isRunning) return;
    const settled = Promise.withResolvers<void>();
    this.#waiters.add(settled.resolve);
    this.#wake.call();
    await settled.promise;
  }

  async #run(onLook: () => void): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // Copy the waiters before the check, because a check in progress may miss an item that is planned now.
      const waiters = [...this.#waiters];
      this.#nextAt = Number.POSITIVE_INFINITY;
      const inMs = await this.#lookOnce();
      onLook();
      const now = clock.now();
      // An item may have been planned during the check.
      this.#nextAt = Math.min(this.#nextAt, now + (inMs ?? Number.POSITIVE_INFINITY));
      if (this.#nextAt > now) this.#settle(waiters);
      if (signal.aborted) break;
      const waitMs = this.#nextAt - now;
      await this.#wake.wait(Number.isFinite(waitMs) ? waitMs : undefined, LOOK_INTERVAL_MS);
    }
    onLook();
    this.#isRunning = false;
    this.#settle([...this.#waiters]);
  }

  #settle(waiters: readonly (() => void)[]): void {
    for (const resolve of waiters) {
      this.#waiters.delete(resolve);
      resolve();
    }
  }

  async #lookOnce(): Promise<number | undefined> {
    try {
      const inMs = await this.look();
      this.#isFailing = false;
      return inMs;
    } catch (err) {
      const level = this.#isFailing ? "debug" : "error";
      this.#isFailing = true;
      this.#options.log[level]({ err }, "could not store due timers; retrying");
      return STORE_RETRY_MS;
    }
  }
}
