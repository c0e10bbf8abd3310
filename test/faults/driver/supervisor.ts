import { setTimeout as wait } from "node:timers/promises";
import type { BotProcess } from "./bot-process.ts";
import type { World } from "./world.ts";

/** A bot that does not answer /healthz for so long is stuck, in milliseconds. */
const SILENCE_MS = 500;

/** Between two looks, in milliseconds. */
const INTERVAL_MS = 100;

/** What restarts bots whose event loop is blocked, as systemd or an orchestrator does. */
export class Supervisor {
  /** How many bots were killed because they were silent. */
  kills = 0;
  readonly #world: World;
  readonly #stopping = new AbortController();
  #bot: BotProcess;
  #loop: Promise<void> = Promise.resolve();

  constructor(world: World, bot: BotProcess) {
    this.#world = world;
    this.#bot = bot;
  }

  get bot(): BotProcess {
    return this.#bot;
  }

  start(): void {
    this.#loop = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await wait(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      const url = await this.#bot.ready;
      if (signal.aborted || (await answers(url))) continue;
      this.kills += 1;
      await this.#bot.end("SIGKILL");
      this.#world.checkAcknowledged(`after the supervisor's kill ${this.kills}`);
      this.#bot = this.#world.spawn();
    }
  }
}

async function answers(url: string | undefined): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(SILENCE_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
