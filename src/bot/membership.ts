import { hostname } from "node:os";
import { type Clock, every } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { version } from "../core/manifest.ts";
import { type ErrorCode, ServiceBotError } from "../errors.ts";
import type { Shared } from "../inbox/shared.ts";

export interface MembershipOptions {
  readonly shared: Pick<Shared, "beat" | "leave" | "requireUsable">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time at which this instance last stored a delivery, according to `clock`. */
  readonly lastDeliveryAt: () => number | undefined;
  /** Called with the number of live instances, including this one, whenever the number changes. */
  readonly onSize: (instances: number) => void;
}

const HEARTBEAT_INTERVAL_MS = 5_000;

/** Failures that only an operator can fix. All other failures are retried. */
const UNUSABLE: ReadonlySet<ErrorCode> = new Set([
  "INBOX_TOO_NEW",
  "INBOX_UNFINISHED",
  "INBOX_MOVED",
]);

/** Sends heartbeats to the other instances using the inbox, and stops this instance if the inbox becomes unusable. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #details = { host: hostname(), pid: process.pid, version: version() };
  readonly #stopping = new AbortController();
  #instances = 1;
  #isUnusable = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /**
   * Registers this instance. Resolves once the other instances can see it and the inbox has been found usable.
   *
   * @param onUnusable called once when this instance must no longer use the inbox
   * @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED; STORE_UNAVAILABLE if the check failed
   */
  async start(onUnusable: (error: ServiceBotError) => void): Promise<void> {
    await this.#beat();
    const { clock } = this.#options;
    const beat = () => this.#beatAgain(onUnusable);
    this.#loop = every(clock, HEARTBEAT_INTERVAL_MS, beat, this.#stopping.signal);
  }

  async stop(): Promise<void> {
    const { shared, log } = this.#options;
    this.#stopping.abort();
    await this.#loop;
    await shared
      .leave()
      .catch((err: unknown) =>
        log.debug({ err }, "could not deregister this instance; its registration will expire"),
      );
  }

  /** An unusable instance stays registered until it has stopped, because its handlers may still run. */
  async #beatAgain(onUnusable: (error: ServiceBotError) => void): Promise<void> {
    try {
      await this.#beat();
    } catch (err) {
      if (!(err instanceof ServiceBotError && UNUSABLE.has(err.code))) {
        this.#options.log.debug({ err }, "could not register this instance; retrying");
        return;
      }
      if (!this.#isUnusable) onUnusable(err);
      this.#isUnusable = true;
    }
  }

  async #beat(): Promise<void> {
    const { shared, clock, lastDeliveryAt, onSize } = this.#options;
    const at = lastDeliveryAt();
    try {
      const ago = at === undefined ? undefined : Math.max(0, clock.now() - at);
      const instances = await shared.beat(this.#details, ago);
      if (instances !== this.#instances) onSize(instances);
      this.#instances = instances;
    } finally {
      // Check after the heartbeat. A copy that starts now then either sees this instance or is seen by the check. Check
      // even if the heartbeat failed, because a newer version may have changed the tables. The check's error then
      // replaces the heartbeat's error.
      await shared.requireUsable();
    }
  }
}
