import { setTimeout as wait } from "node:timers/promises";
import { median, scaled } from "../driver/numbers.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";

const sizes: Readonly<Record<Size, { stops: number }>> = {
  small: { stops: 10 },
  large: { stops: 200 },
};

const EVENTS_PER_STOP = 40;
const GRACE_MS = 300;

/** After the grace period aborted handlers get a second, and closing takes a moment; in milliseconds. */
const LONGEST_STOP_MS = GRACE_MS + 1_000 + 2_000;

/** SIGTERM at random moments under load, with handlers that outlast the grace period among them. */
export const stops: Scenario = {
  name: "SIGTERM under load",
  async run({ size, seed, scale, progress }: ScenarioRun): Promise<Outcome> {
    const plan = scaled(sizes[size], scale);
    const random = new Random(seed);
    const world = await World.start({ settings: { shutdownGraceMs: GRACE_MS } });
    const took: number[] = [];
    try {
      for (let stop = 1; stop <= plan.stops && !world.broken; stop++) {
        took.push(await stopOnce(world, random));
        world.checkAcknowledged(`after stop ${stop}`);
        if (stop % 25 === 0) progress(`${stop} of ${plan.stops} stops`);
      }
      const { stored } = await world.finish(await world.boot());
      const worst = Math.max(...took);
      if (worst > LONGEST_STOP_MS) {
        world.violations.push(`a stop took ${worst} ms, more than ${LONGEST_STOP_MS} ms`);
      }
      // Nothing failed here, so no attempt may have been counted for a run that a stop broke off.
      for (const { id, attempts } of stored) {
        if (attempts !== 1)
          world.violations.push(`${id} was handled in ${attempts} attempts, not 1`);
      }
      const figures = {
        stops: plan.stops,
        events: stored.length,
        answers: world.ledger.said,
        "stop, median (ms)": Math.round(median(took)),
        "stop, worst (ms)": Math.round(worst),
      };
      return { figures, violations: world.violations };
    } finally {
      await world.close();
    }
  },
};

/** Returns how long the bot took to stop, in milliseconds. */
async function stopOnce(world: World, random: Random): Promise<number> {
  let left = EVENTS_PER_STOP;
  const write = (count: number) => {
    for (const end = left - Math.min(count, left); left > end; left--) {
      const behaviour = random.chance(0.1) ? "slow" : "answer";
      world.ledger.write({ from: `person${random.below(30)}`, behaviour });
    }
  };
  write(random.below(EVENTS_PER_STOP));
  const bot = await world.boot();
  for (const end = performance.now() + random.below(400); performance.now() < end; ) {
    write(5);
    await wait(10);
  }
  const started = performance.now();
  const stopped = world.stop(bot);
  // Deliveries go on while it stops.
  write(left);
  await stopped;
  return performance.now() - started;
}
