import { setTimeout as wait } from "node:timers/promises";
import type { Observed } from "../driver/checker.ts";
import { type Attack, type Judgement, onOneBot, type Stage } from "../driver/fault.ts";
import type { Store } from "../driver/store.ts";
import { median } from "../report.ts";
import type { Scenario } from "../scenario.ts";

const EVENTS_PER_STOP = 40;
const GRACE_MS = 300;

/**
 * Time limit for stopping, in ms. Aborted handlers get a second after the grace period, and closing takes a little
 * longer.
 */
const MAX_STOP_MS = GRACE_MS + 1_000 + 2_000;

/** Sends SIGTERM at random times under load. Some handlers outlast the grace period. */
export const stops: Scenario = onOneBot({
  name: "SIGTERM under load",
  counted: "stops",
  times: { small: 4, large: 200 },
  world: { settings: { shutdownGraceMs: GRACE_MS } },
  begin: (stage) => new Stops(stage, MAX_STOP_MS),
});

export class Stops implements Attack {
  readonly #stage: Stage<Store>;
  readonly #maxMs: number;
  readonly #tookMs: number[] = [];

  constructor(stage: Stage<Store>, maxMs: number) {
    this.#stage = stage;
    this.#maxMs = maxMs;
  }

  async once(): Promise<void> {
    const { world, random } = this.#stage;
    const before = random.below(EVENTS_PER_STOP);
    this.#write(before);
    const bot = await world.boot();
    await wait(random.below(400));
    const started = performance.now();
    const stopped = world.stop(bot);
    this.#write(EVENTS_PER_STOP - before);
    await stopped;
    this.#tookMs.push(performance.now() - started);
  }

  /** No handler failed, and a run interrupted by a stop must not count as an attempt. */
  judge({ stored }: Observed): Judgement {
    const worst = Math.max(...this.#tookMs);
    const violations = stored
      .filter(({ attempts }) => attempts !== 1)
      .map(({ id, attempts }) => `${id} was handled in ${attempts} attempts, not 1`);
    if (worst > this.#maxMs) violations.push(`a stop took ${worst} ms, more than ${this.#maxMs}`);
    const figures = {
      "stop, median (ms)": Math.round(median(this.#tookMs)),
      "stop, worst (ms)": Math.round(worst),
    };
    return { figures, violations };
  }

  #write(count: number): void {
    const { world, random } = this.#stage;
    for (let i = 0; i < count; i++) {
      const behaviour = random.chance(0.1) ? "slow" : "answer";
      world.ledger.write({ from: `person${random.below(30)}`, behaviour });
    }
  }
}
