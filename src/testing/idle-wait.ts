import { turn } from "./manual-clock.ts";

/** Real time that handlers get, in ms. A handler that runs longer is probably waiting for the clock. */
const BUSY_TIMEOUT_MS = 1_000;

/**
 * Waits until a bot is idle. Does not wait for handlers that are waiting for the clock, because only the test advances
 * it. Later calls then return immediately, until the bot is idle.
 */
export class IdleWait {
  readonly #idle: () => Promise<void>;
  #pending: Promise<void> | undefined;
  #isBusy = false;

  constructor(idle: () => Promise<void>) {
    this.#idle = idle;
  }

  async wait(): Promise<void> {
    await turn();
    this.#pending ??= this.#idle().then(() => {
      this.#pending = undefined;
      this.#isBusy = false;
    });
    if (this.#isBusy) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timeout = setTimeout(() => {
      this.#isBusy = true;
      resolve();
    }, BUSY_TIMEOUT_MS);
    await Promise.race([this.#pending, promise]);
    clearTimeout(timeout);
  }
}
