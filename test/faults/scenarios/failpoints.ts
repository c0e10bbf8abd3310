import { setTimeout as wait } from "node:timers/promises";
import { type Failpoint, failpoints as inBot } from "../bot/failpoints.ts";
import type { BotProcess } from "../driver/bot-process.ts";
import { scaled } from "../driver/numbers.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";

const sizes: Readonly<Record<Size, { rounds: number }>> = {
  small: { rounds: 1 },
  large: { rounds: 20 },
};

/** The bot's own, and one that only the platform can see: it has the answer and has not said so yet. */
const points = [...inBot, "after send"] as const;

/** A failpoint is passed this often, at most, before it strikes. */
const MAX_HIT = 10;

/** A failpoint that has not struck after so long never will, in milliseconds. */
const PATIENCE_MS = 15_000;

/** Kill -9 exactly there, under load; the life that follows clears up and dies at the next one. */
export const failpoints: Scenario = {
  name: "kill -9 at every failpoint",
  async run({ size, seed, scale, progress }: ScenarioRun): Promise<Outcome> {
    const { rounds } = scaled(sizes[size], scale);
    const random = new Random(seed);
    const world = await World.start();
    let struck = 0;
    try {
      for (let round = 1; round <= rounds; round++) {
        for (const at of points) {
          if (world.broken) break;
          const hit = 1 + random.below(MAX_HIT);
          if (await strike(world, random, at, hit)) struck += 1;
          world.checkAcknowledged(`after the failpoint "${at}", hit ${hit}`);
        }
        progress(`${round} of ${rounds} rounds of ${points.length} failpoints`);
      }
      const { stored } = await world.finish(await world.boot());
      const figures = {
        failpoints: points.length,
        kills: struck,
        events: stored.length,
        answers: world.ledger.said,
      };
      return { figures, violations: world.violations };
    } finally {
      await world.close();
    }
  },
};

/** One life that ends at a failpoint. False when it never came by, which is the harness's own fault. */
async function strike(
  world: World,
  random: Random,
  at: (typeof points)[number],
  hit: number,
): Promise<boolean> {
  const note = `${at}, hit ${hit}`;
  const write = () =>
    world.ledger.write({
      from: `person${random.below(8)}`,
      behaviour: random.chance(0.5) ? "twins" : "answer",
      note,
    });
  for (let i = 0; i < 6; i++) write();
  const { bot, ignore } = begin(world, at, hit);
  await bot.ready;
  const end = performance.now() + PATIENCE_MS;
  // Few at once, so that there are many transactions; then slowly, so that no backlog grows.
  for (let i = 0; bot.running && performance.now() < end; i++) {
    write();
    await Promise.race([wait(i < 20 ? 5 : 100), bot.exited]);
  }
  ignore();
  const own = at === "after send";
  if (!bot.running && (own ? bot.killed : bot.failpoint === at)) {
    await bot.exited;
    return true;
  }
  world.violations.push(`the failpoint "${at}" did not strike at hit ${hit}:\n${bot.tail()}`);
  await bot.end("SIGKILL");
  return false;
}

function begin(
  world: World,
  at: (typeof points)[number],
  hit: number,
): { bot: BotProcess; ignore: () => void } {
  if (at !== "after send") {
    const failpoint: { at: Failpoint; hit: number } = { at, hit };
    return { bot: world.spawn({ failpoint }), ignore: () => undefined };
  }
  const bot = world.spawn();
  return { bot, ignore: world.ledger.onSaid(hit - 1, () => bot.signal("SIGKILL")) };
}
