import { setTimeout as wait } from "node:timers/promises";
import type { BotProcess } from "../driver/bot-process.ts";
import { measureImport } from "../driver/import-time.ts";
import { readyFigures, scaled } from "../driver/numbers.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";

const sizes: Readonly<Record<Size, { kills: number; events: number }>> = {
  small: { kills: 25, events: 2_000 },
  large: { kills: 500, events: 50_000 },
};

const PEOPLE = 40;

/** How long a bot works before it is killed, at most, in milliseconds. */
const LONGEST_LIFE_MS: Readonly<Record<Size, number>> = { small: 600, large: 1_500 };

/** How long it may take to begin, on a machine that has much to do, in milliseconds. */
const PATIENCE_MS = 3_000;

/** Kill -9 at random moments while messages come and are answered, two answers each. */
export const kills: Scenario = {
  name: "kill -9 at random moments under load, two answers per event",
  async run({ size, seed, scale, progress }: ScenarioRun): Promise<Outcome> {
    const plan = scaled(sizes[size], scale);
    const random = new Random(seed);
    const importMs = await measureImport();
    const world = await World.start();
    let midAnswer = 0;
    try {
      for (let kill = 1; kill <= plan.kills && !world.broken; kill++) {
        const share = Math.round((plan.events * kill) / plan.kills) - world.ledger.written.length;
        if (await killOnce(world, random, { share, lifeMs: LONGEST_LIFE_MS[size] })) midAnswer += 1;
        world.checkAcknowledged(`after kill ${kill}`);
        if (kill % 25 === 0) progress(`${kill} of ${plan.kills} kills, ${world.ledger.said} said`);
      }
      const saidBetween = world.ledger.said;
      const { stored } = await world.finish(await world.boot());
      return {
        figures: {
          kills: plan.kills,
          "of them in the middle of an answer": midAnswer,
          events: stored.length,
          answers: world.ledger.said,
          "of them before the last kill": saidBetween,
          ...readyFigures(world.readyMs),
          "of it Node and imports (ms)": importMs,
        },
        violations: world.violations,
      };
    } finally {
      await world.close();
    }
  },
};

/**
 * One life of the bot, with its share of the messages: some wait for it, some come while it works.
 * True when it died in the middle of an answer.
 */
async function killOnce(
  world: World,
  random: Random,
  { share, lifeMs }: { readonly share: number; readonly lifeMs: number },
): Promise<boolean> {
  let left = share;
  const write = (count: number) => {
    for (const end = left - Math.min(count, left); left > end; left--) {
      const behaviour = random.chance(0.2) ? "twins" : "answer";
      world.ledger.write({ from: `person${random.below(PEOPLE)}`, behaviour });
    }
  };
  write(random.below(share + 1));
  const bot = world.spawn();
  // Some die before they are ready, in the middle of taking up what the life before them left.
  const early = random.chance(0.05);
  const moment = { answers: random.below(3 * share), ms: random.below(lifeMs) };
  if (early) await wait(random.below(300));
  else if ((await bot.ready) !== undefined) await untilMoment(world, bot, moment, () => write(5));
  const midAnswer = bot.killed;
  if (!bot.running && !midAnswer) {
    world.violations.push(`the bot ended by itself:\n${bot.tail()}`);
  }
  await bot.end("SIGKILL");
  write(left);
  return midAnswer;
}

/** Ends with the bot's death after so many answers, or else some time after it began to answer. */
async function untilMoment(
  world: World,
  bot: BotProcess,
  { answers, ms }: { readonly answers: number; readonly ms: number },
  write: () => void,
): Promise<void> {
  // In the middle of an answer: the platform has it, and has not yet said so.
  const ignore = world.ledger.onSaid(answers, () => bot.signal("SIGKILL"));
  const saidBefore = world.ledger.said;
  let end = performance.now() + PATIENCE_MS;
  let began = false;
  while (bot.running && performance.now() < end) {
    write();
    if (!began && world.ledger.said > saidBefore) {
      began = true;
      end = performance.now() + ms;
    }
    await Promise.race([wait(5), bot.exited]);
  }
  ignore();
}
