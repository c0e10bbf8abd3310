import type { Fetch } from "../faces/client.ts";
import { ManualClock } from "../faces/testing.ts";

/** Clock step in ms. Shorter than the waits in tests, so that network requests complete between two steps. */
const STEP_MS = 500;

/** Maximum wait, in ms of clock time. */
const MAX_WAIT_MS = 3_600_000;

/** A clock that a test moves. Before each step, it waits for the requests in flight. */
export class PassingTime {
  readonly clock: ManualClock;
  readonly #underWay = new Set<Promise<unknown>>();

  /** @param start in ms since 1970. Default: now */
  constructor(start?: number) {
    this.clock = new ManualClock(start);
  }

  async track<T>(request: Promise<T>): Promise<T> {
    this.#underWay.add(request);
    return await request.finally(() => this.#underWay.delete(request));
  }

  /** A `fetch` function for a bot or a client. The clock stands still until each request completes. */
  readonly fetch: Fetch = (url, init) => this.track(fetch(url, init));

  /** Moves the clock by `ms`, or until `isOver` returns true. */
  async pass(
    ms: number,
    isOver: () => boolean = () => false,
    stepMs: number = STEP_MS,
  ): Promise<void> {
    for (let passed = 0; passed < ms && !isOver(); passed += stepMs) {
      await this.clock.advance(Math.min(stepMs, ms - passed));
      while (this.#underWay.size > 0) {
        await Promise.allSettled(this.#underWay);
        await this.clock.advance(0);
      }
    }
  }

  /** Moves the clock until the condition holds. @throws {Error} after an hour of clock time */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (const end = this.clock.now() + MAX_WAIT_MS; !(await holds()); ) {
      if (this.clock.now() >= end)
        throw new Error("the condition did not hold within an hour of clock time");
      await this.pass(STEP_MS);
    }
  }
}
