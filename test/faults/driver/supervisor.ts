import { setTimeout as wait } from "node:timers/promises";
import { isOk } from "../../support/is-ok.ts";
import type { World } from "./world.ts";

/** Time limit for a response from /healthz, in ms. A bot that takes longer is stuck. */
const HEALTH_TIMEOUT_MS = 500;

const CHECK_INTERVAL_MS = 100;

/** Restarts a bot whose event loop is blocked, as systemd or an orchestrator does. */
export class Supervisor {
  kills = 0;
  readonly #world: World;
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;

  constructor(world: World) {
    this.#world = world;
    this.#loop = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await wait(CHECK_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      const [bot] = this.#world.bots;
      const url = await bot?.ready;
      if (bot === undefined || signal.aborted || (await isOk(`${url}/healthz`, HEALTH_TIMEOUT_MS)))
        continue;
      this.kills += 1;
      await this.#world.kill(bot, `after the supervisor's kill ${this.kills}`);
      this.#world.spawn();
    }
  }
}
