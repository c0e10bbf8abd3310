import type { Fetch } from "../faces/client.ts";
import { ManualClock } from "../faces/testing.ts";

/** In ms. Shorter than the waits that tests pass, so that what is on the network is answered in between. */
const STEP_MS = 500;

/** A wait gives up after an hour of the clock. */
const MAX_WAIT_MS = 3_600_000;

/** A clock that a test moves. Requests that are under way are over before the time goes on. */
export class PassingTime {
  readonly clock: ManualClock;
  readonly #underWay = new Set<Promise<unknown>>();

  /** @param start milliseconds since 1970; by default the present */
  constructor(start?: number) {
    this.clock = new ManualClock(start);
  }

  /** Keeps the time from passing until this request is over. */
  async track<T>(request: Promise<T>): Promise<T> {
    this.#underWay.add(request);
    return await request.finally(() => this.#underWay.delete(request));
  }

  /** Requests of a bot or a client, each of which keeps the time from passing. */
  readonly fetch: Fetch = (url, init) => this.track(fetch(url, init));

  /** Lets the time pass, or less of it when this holds before. */
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

  /** Lets the time pass until this holds. @throws after an hour of the clock */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (const end = this.clock.now() + MAX_WAIT_MS; !(await holds()); ) {
      if (this.clock.now() >= end) throw new Error("an hour of the clock has passed in vain");
      await this.pass(STEP_MS);
    }
  }
}
