import { setTimeout as wait } from "node:timers/promises";
import { failpoints as inBot } from "../../support/world/failpoints.ts";
import { onOneBot, type Stage, writers } from "../driver/fault.ts";
import type { Scenario } from "../scenario.ts";

/** The bot's own failpoints, and one in the platform, between the arrival of a request and its response. */
const points = [...inBot, "after send"] as const;

const MAX_HIT = { small: 4, large: 10 } as const;

/** Time limit for reaching a failpoint, in ms. A failpoint not reached by then is never reached. */
const STRIKE_TIMEOUT_MS = 15_000;

/**
 * Kills the bot at one failpoint after another, under load. The small size covers only some of them, because
 * test/promises/failpoints.test.ts covers all of them without processes.
 */
export const failpoints: Scenario = onOneBot({
  name: "kill -9 at every failpoint",
  counted: "kills",
  times: { small: 8, large: 20 * points.length },
  begin: (stage) => {
    const first = stage.random.below(points.length);
    return {
      // If the number of failpoints is odd, steps of two reach all of them.
      once: (time) => strike(stage, points[(first + 2 * time) % points.length] ?? "after send"),
      judge: () => ({ figures: { failpoints: points.length } }),
    };
  },
});

async function strike(stage: Stage, at: (typeof points)[number]): Promise<void> {
  const { world, random, size } = stage;
  const hit = 1 + random.below(MAX_HIT[size]);
  const note = `${at}, hit ${hit}`;
  const write = writers(stage, 8, () => (random.chance(0.5) ? "twins" : "answer"));
  write(6, note);
  const bot = world.spawn(at === "after send" ? {} : { failpoint: { at, hit } });
  const ignore =
    at === "after send" ? world.ledger.onSaid(hit - 1, () => bot.kill("SIGKILL")) : () => undefined;
  await bot.ready;
  const end = performance.now() + STRIKE_TIMEOUT_MS;
  // Write the first messages in quick succession to cause many transactions, and later ones slowly to avoid a backlog.
  for (let i = 0; bot.running && performance.now() < end; i++) {
    write(1, note);
    await Promise.race([wait(i < 20 ? 5 : 100), bot.exited]);
  }
  ignore();
  const isOver = !bot.running;
  await bot.end("SIGKILL");
  const struck = at === "after send" ? isOver : bot.failpoint === at;
  if (!struck)
    world.violations.push(`the bot did not die at the failpoint: ${note}\n${bot.lastLines()}`);
}
