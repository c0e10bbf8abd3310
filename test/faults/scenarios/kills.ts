import { setTimeout as wait } from "node:timers/promises";
import type { Behaviour } from "../bot/behaviours.ts";
import { type Attack, type Judgement, onOneBot, type Stage } from "../driver/fault.ts";
import type { Scenario } from "../scenario.ts";

const SHARE = { small: 50, large: 100 } as const;

/** Longest time from the first reply to the kill, in ms. */
const MAX_LIFE_MS = { small: 400, large: 1_500 } as const;

const START_TIMEOUT_MS = 3_000;

/** Each message gets two replies, so a kill can separate them. */
export const kills: Scenario = onOneBot({
  name: "kill -9 at random moments under load, two answers per event",
  counted: "kills",
  times: { small: 8, large: 500 },
  begin: (stage) => {
    const choose = () => (stage.random.chance(0.2) ? "twins" : "answer");
    return new Kills(stage, { people: 40, choose });
  },
});

export interface Writers {
  readonly people: number;
  readonly choose: () => Behaviour;
}

export class Kills implements Attack {
  readonly #stage: Stage;
  readonly #writers: Writers;
  #midAnswer = 0;

  constructor(stage: Stage, writers: Writers) {
    this.#stage = stage;
    this.#writers = writers;
  }

  /** Runs one process of the bot. Some of its messages are already waiting; others arrive while it is working. */
  async once(time: number): Promise<void> {
    const { world, random, size } = this.#stage;
    const { people, choose } = this.#writers;
    let left: number = SHARE[size];
    const write = (count: number) => {
      for (const end = left - Math.min(count, left); left > end; left--) {
        world.ledger.write({ from: `person${random.below(people)}`, behaviour: choose() });
      }
    };
    write(random.below(left));
    const bot = world.spawn();
    // Kill in the middle of a reply, when the platform has accepted the message but has not responded yet.
    const ignore = world.ledger.onSaid(random.below(SHARE[size]), () => bot.kill("SIGKILL"));
    // Let some bots die before they are ready, while they recover from the previous kill.
    if (random.chance(0.05)) await wait(random.below(300));
    else if ((await bot.ready) !== undefined) {
      write(left / 2);
      if (await world.waitForMore(1, START_TIMEOUT_MS)) {
        await Promise.race([bot.exited, wait(random.below(MAX_LIFE_MS[size]))]);
      }
    }
    ignore();
    if (bot.killed) this.#midAnswer += 1;
    await world.kill(bot, `after kill ${time}`);
    write(left);
  }

  judge(): Judgement {
    return { figures: { "of them in the middle of an answer": this.#midAnswer } };
  }
}
