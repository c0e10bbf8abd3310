import type { Logger } from "../core/logger.ts";

/** How often the use of one secret is told, in milliseconds. */
const INTERVAL_MS = 3_600_000;

/** Tells during a rotation that an old secret is still in use, so that an operator knows when it is not. */
export class OldSecretNotice {
  readonly #log: Logger;
  readonly #secrets: number;
  /** When the use of a secret was told last, by its index. */
  readonly #toldAt = new Map<number, number>();

  /** @param secrets how many there are */
  constructor(log: Logger, secrets: number) {
    this.#log = log;
    this.#secrets = secrets;
  }

  /** A delivery was signed with the secret of this index; 0 is the newest. */
  signedWith(index: number, now: number): void {
    const told = this.#toldAt.get(index);
    // In both directions: a clock that was set back must not keep it quiet until it has caught up.
    if (index === 0 || (told !== undefined && Math.abs(now - told) < INTERVAL_MS)) return;
    this.#toldAt.set(index, now);
    this.#log.info(
      { number: index + 1, configured: this.#secrets },
      "delivery signed with an old secret, which must stay in SERVICE_WEBHOOK_SECRET for now",
    );
  }
}
