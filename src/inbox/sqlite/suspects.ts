import type { Claim } from "../inbox.ts";
import { CRASHES } from "../limits.ts";

/**
 * Events that may be what takes the process down. Nobody can tell them from those that merely ran at
 * the same time, so they run one after the other: the guilty one then crashes without them, and they
 * do not follow it to the dead letters.
 */
export class Suspects {
  readonly #holds: (claim: Claim) => boolean;
  /** The one that was let through last. */
  #running: Claim | undefined;

  /** @param holds true while the lease of a claim has not ended */
  constructor(holds: (claim: Claim) => boolean) {
    this.#holds = holds;
  }

  /** True when this event has to wait until another one has ended. Otherwise it may run. */
  mustWait(claim: Claim): boolean {
    if (claim.crashes < CRASHES) return false;
    if (this.#running !== undefined && this.#holds(this.#running)) return true;
    this.#running = claim;
    return false;
  }
}
