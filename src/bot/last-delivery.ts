import { type Clock, every } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { Inbox } from "../inbox/inbox.ts";

export interface LastDeliveryOptions {
  readonly inbox: Pick<Inbox, "noteDelivery" | "deliveredMsAgo">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time when this process last stored a delivery. `undefined` if it has stored none. */
  readonly lastDeliveryAt: () => number | undefined;
}

/** In ms. A write per delivery would make every delivery more expensive. */
const WRITE_INTERVAL_MS = 10_000;

/** Keeps the time of the last delivery in the inbox, so that a restart does not forget it. */
export class LastDelivery {
  readonly #options: LastDeliveryOptions;
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #writtenAt: number | undefined;
  /** Time of the last delivery before this process started. `undefined` if the inbox has none. */
  readonly lastDeliveryAt: number | undefined;

  static async open(options: LastDeliveryOptions): Promise<LastDelivery> {
    const { inbox, clock } = options;
    const msAgo = await inbox.deliveredMsAgo();
    return new LastDelivery(options, msAgo === undefined ? undefined : clock.now() - msAgo);
  }

  private constructor(options: LastDeliveryOptions, lastDeliveryAt: number | undefined) {
    this.#options = options;
    this.lastDeliveryAt = lastDeliveryAt;
  }

  start(): void {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    this.#loop = every(clock, WRITE_INTERVAL_MS, () => this.#write(), signal, { background: true });
  }

  /** Writes the time once more. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.#write();
  }

  /** A failed write is repeated with the next one. */
  async #write(): Promise<void> {
    const { inbox, clock, log, lastDeliveryAt } = this.#options;
    const at = lastDeliveryAt();
    if (at === undefined || at === this.#writtenAt) return;
    try {
      await inbox.noteDelivery(Math.max(0, clock.now() - at));
      this.#writtenAt = at;
    } catch (err) {
      log.debug({ err }, "could not save the time of the last delivery");
    }
  }
}
