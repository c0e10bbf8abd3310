import { setTimeout as wait } from "node:timers/promises";
import type { Behaviour } from "../bot/behaviours.ts";
import { type Attack, onOneBot, type Stage, writers } from "../driver/fault.ts";
import type { Scenario } from "../scenario.ts";

/** Messages per process. */
const SHARE = { small: 50, large: 100 } as const;

/** Longest time from the first reply to the kill, in ms. */
const MAX_LIFE_MS = { small: 400, large: 1_500 } as const;

const START_TIMEOUT_MS = 3_000;

/** Each message gets two replies, so a kill can separate them. */
export const kills: Scenario = onOneBot({
  name: "kill -9 at random moments under load, two answers per event",
  counted: "kills",
  times: { small: 8, large: 500 },
  begin: (stage) => killUnderLoad(stage, 40, () => (stage.random.chance(0.2) ? "twins" : "answer")),
});

/** Kills one process of the bot after another. Some of its messages are already waiting; others arrive meanwhile. */
export function killUnderLoad(stage: Stage, people: number, choose: () => Behaviour): Attack {
  const { world, random, size } = stage;
  const write = writers(stage, people, choose);
  return {
    async once(time) {
      let left = SHARE[size] - random.below(SHARE[size]);
      write(SHARE[size] - left);
      const bot = world.spawn();
      const skipped = random.below(SHARE[size]);
      await world.killInReply(bot, `after kill ${time}`, skipped, async () => {
        // Let some bots die before they are ready, while they recover from the previous kill.
        if (random.chance(0.05)) await wait(random.below(300));
        else if ((await bot.ready) !== undefined) {
          write(left - Math.floor(left / 2));
          left = Math.floor(left / 2);
          if (await world.waitForMore(1, START_TIMEOUT_MS)) {
            await Promise.race([bot.exited, wait(random.below(MAX_LIFE_MS[size]))]);
          }
        }
      });
      write(left);
    },
  };
}
