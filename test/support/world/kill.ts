import { setImmediate as turn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Bot, BotOptions } from "../../../src/index.ts";
import { BotClock } from "./bot-clock.ts";
import { type Failpoint, watchFailpoints } from "./failpoints.ts";
import type { World } from "./world.ts";

/** Turns of the event loop after which a bot has reached its failpoint, or never will. */
const MAX_TURNS = 1_000;

/** The clock also has to move for what a bot does later, so it moves every so many turns. */
const TURNS_PER_MOVE = 100;

/**
 * Kills a bot at a failpoint without a separate process. When the bot reaches the failpoint, the inbox is copied as it
 * is on disk, the bot's clock stops, and every later request and write by the bot fails.
 */
export class Kill {
  readonly #world: World;
  readonly #clock: BotClock;
  readonly #watch: ReturnType<typeof watchFailpoints>;
  #copy: string | undefined;

  /** @param hit how often the bot passes the point, including the pass that kills it */
  constructor(world: World, at: Failpoint, hit: number) {
    this.#world = world;
    this.#clock = new BotClock(world.clock);
    let passes = 0;
    this.#watch = watchFailpoints((passed) => {
      if (passed === at && !this.isDone && ++passes === hit) this.#die();
      if (this.isDone) throw new Error("killed");
    });
    onTestFinished(() => this.#watch.remove());
  }

  get isDone(): boolean {
    return this.#copy !== undefined;
  }

  /** Starts the bot to kill. No other bot may run meanwhile. */
  async startBot<S>(register: (bot: Bot<S>) => void, options: BotOptions<S> = {}): Promise<Bot<S>> {
    const fetch = this.#watch.watchFetch(async (url, init) => {
      if (this.isDone) throw new Error("killed");
      return await this.#world.fetch(url, init);
    });
    return await this.#world.startBot(register, { ...options, clock: this.#clock, fetch });
  }

  /**
   * Waits for the bot's death. The next bot of the world continues with the copy of its inbox.
   *
   * @param moveMs returns how far to move the clock. Default: 250 ms
   * @throws {Error} if the bot never reaches the failpoint
   */
  async happens(moveMs: (moves: number) => number = () => 250): Promise<void> {
    for (let turns = 1; !this.isDone && turns <= MAX_TURNS; turns++) {
      await turn();
      if (turns % TURNS_PER_MOVE > 0) continue;
      await this.#world.clock.advance(moveMs(turns / TURNS_PER_MOVE));
    }
    this.#watch.remove();
    if (this.#copy === undefined) throw new Error("the bot never reached the failpoint");
    this.#world.file = this.#copy;
    for (const inbox of this.#watch.inboxes) await inbox.close();
  }

  #die(): void {
    this.#copy = this.#world.copyInbox();
    this.#clock.stop();
  }
}
