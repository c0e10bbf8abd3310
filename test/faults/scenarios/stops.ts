import { setTimeout as wait } from "node:timers/promises";
import { type Attack, attemptsLost, onOneBot, type Stage, writers } from "../driver/fault.ts";
import type { Store } from "../driver/store.ts";
import { spread } from "../report.ts";
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
  begin: (stage) => stopUnderLoad(stage, MAX_STOP_MS),
});

export function stopUnderLoad(stage: Stage<Store>, maxMs: number): Attack {
  const { world, random } = stage;
  const tookMs: number[] = [];
  const write = writers(stage, 30, () => (random.chance(0.1) ? "slow" : "answer"));
  return {
    async once() {
      const before = random.below(EVENTS_PER_STOP);
      write(before);
      const bot = await world.boot();
      await wait(random.below(400));
      const started = performance.now();
      const stopped = world.stop(bot);
      write(EVENTS_PER_STOP - before);
      await stopped;
      tookMs.push(performance.now() - started);
    },
    /** No handler failed, and a run interrupted by a stop must not count as an attempt. */
    judge(observed) {
      const violations = attemptsLost(observed, "a stop");
      const worst = Math.max(...tookMs);
      if (worst > maxMs) violations.push(`a stop took ${worst} ms, more than ${maxMs}`);
      return { figures: spread("stop", tookMs), violations };
    },
  };
}
