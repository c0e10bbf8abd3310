import { type Clock, every } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { type ErrorCode, ServiceBotError } from "../errors.ts";
import type { InstanceDetails, Shared } from "../inbox/shared.ts";

export interface MembershipOptions {
  readonly shared: Pick<Shared, "beat" | "leave" | "requireUsable">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly details: InstanceDetails;
  /** When this instance last stored a delivery, on the clock. */
  readonly lastDeliveryAt: () => number | undefined;
}

/** Between two signs of life, in milliseconds. */
const BEAT_MS = 5_000;

/** What only a person can change. Whatever else fails may work the next time. */
const UNUSABLE: ReadonlySet<ErrorCode> = new Set([
  "INBOX_TOO_NEW",
  "INBOX_UNFINISHED",
  "INBOX_MOVED",
]);

/** Told once that this instance must not use the inbox any more. */
export type OnUnusable = (error: ServiceBotError) => void;

/**
 * Tells the other instances that this one is there, for as long as it is, and notices when it must not go on.
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #stopping = new AbortController();
  #count = 1;
  #unusable = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** How many instances there are, this one included. */
  get count(): number {
    return this.#count;
  }

  /**
   * Resolves once the others can know of this one, and it is known that the inbox may be used.
   *
   * @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED; STORE_UNAVAILABLE when that is not known
   */
  async start(onUnusable: OnUnusable): Promise<void> {
    await this.#beat();
    const { clock } = this.#options;
    const again = () => this.#beatAgain(onUnusable);
    this.#loop = every(clock, BEAT_MS, again, this.#stopping.signal);
  }

  async stop(): Promise<void> {
    const { shared, log } = this.#options;
    this.#stopping.abort();
    await this.#loop;
    await shared
      .leave()
      .catch((err: unknown) => log.debug({ err }, "this instance is forgotten by and by"));
  }

  /** One that must not go on is there until it has stopped: its handlers may still be at work. */
  async #beatAgain(onUnusable: OnUnusable): Promise<void> {
    try {
      await this.#beat();
    } catch (err) {
      if (!(err instanceof ServiceBotError && UNUSABLE.has(err.code))) {
        this.#options.log.debug(
          { err },
          "the other instances cannot be told that this one is there",
        );
        return;
      }
      if (!this.#unusable) onUnusable(err);
      this.#unusable = true;
    }
  }

  async #beat(): Promise<void> {
    const { shared, clock, details, lastDeliveryAt } = this.#options;
    const at = lastDeliveryAt();
    try {
      const ago = at === undefined ? undefined : Math.max(0, clock.now() - at);
      this.#count = await shared.beat(details, ago);
    } finally {
      // After it: a copy that begins meanwhile sees this instance, or is seen by it. Also where it failed, for a
      // newer version may have changed what it writes to; its own error is told then.
      await shared.requireUsable();
    }
  }
}
