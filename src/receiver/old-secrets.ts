import type { Logger } from "../core/logger.ts";

/** Interval between two log lines about the same old secret, in ms. */
const INTERVAL_MS = 3_600_000;

/** Logs during a rotation that an old secret is still in use, so that operators know when they can remove it. */
export class OldSecrets {
  readonly #log: Logger;
  /** Number of configured secrets. */
  readonly #configured: number;
  readonly #loggedAt = new Map<number, number>();

  constructor(log: Logger, configured: number) {
    this.#log = log;
    this.#configured = configured;
  }

  /** @param index index of the secret that signed a delivery; the newest has 0 */
  note(index: number, now: number): void {
    if (index === 0) return;
    const loggedAt = this.#loggedAt.get(index) ?? Number.NEGATIVE_INFINITY;
    // Compare in both directions, so that the line is logged even if the clock was set back.
    if (Math.abs(now - loggedAt) < INTERVAL_MS) return;
    this.#loggedAt.set(index, now);
    this.#log.info(
      { number: index + 1, configured: this.#configured },
      "delivery signed with an old secret; keep it in SERVICE_WEBHOOK_SECRET for now",
    );
  }
}
