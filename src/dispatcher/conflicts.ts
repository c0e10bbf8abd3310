import { type BackoffOptions, backoff, type Random } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { traceIdOf } from "../core/trace.ts";
import type { Claim } from "../inbox/inbox.ts";

export interface ConflictsOptions {
  readonly log: Logger;
  readonly random: Random;
}

/**
 * Backoff, in ms. Only one of several concurrent runs can change a state, and the backoff spreads out the other runs.
 */
const CONFLICT_BACKOFF: BackoffOptions = { baseMs: 10, maxMs: 1_000, factor: 2 };

/** Number of consecutive conflicts of one event after which a warning is logged. */
const LOGGED_CONFLICTS = 10;

/** Limits memory use. An event beyond this limit waits less before its next run. */
const MAX_EVENTS = 10_000;

/** Counts runs whose outcome was discarded because another run had changed a state that they had read. */
export class Conflicts {
  readonly #options: ConflictsOptions;
  /** Consecutive conflicts, by event id. */
  readonly #counts = new Map<string, number>();

  constructor(options: ConflictsOptions) {
    this.#options = options;
  }

  /**
   * Counts a conflict. Returns the time in ms until the next run: 0 at first, and up to a second if the state changes
   * often.
   */
  note({ id, lane, trace }: Claim): number {
    const { log, random } = this.#options;
    const count = (this.#counts.get(id) ?? 0) + 1;
    if (this.#counts.size >= MAX_EVENTS) this.#counts.clear();
    this.#counts.set(id, count);
    if (count === LOGGED_CONFLICTS) {
      const about = { event: id, lane, conflicts: count, trace: traceIdOf(trace) };
      log.warn(about, "an event keeps restarting because other runs change its state");
    }
    return count === 1 ? 0 : backoff(CONFLICT_BACKOFF, count, random);
  }

  /** Must be called when a run of the event ends without a conflict. */
  forget({ id }: Claim): void {
    if (this.#counts.size > 0) this.#counts.delete(id);
  }
}
