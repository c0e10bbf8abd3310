import { type BackoffOptions, backoff, type Random } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { traceIdOf } from "../core/trace.ts";
import type { Claim } from "../inbox/inbox.ts";

export interface ConflictsOptions {
  readonly log: Logger;
  readonly random: Random;
}

/** Of each round of runs that change one state, one succeeds. The wait spreads the others. */
const CONFLICT_BACKOFF: BackoffOptions = { baseMs: 10, maxMs: 1_000, factor: 2 };

/** Conflicts of one event in a row that are logged. */
const LOGGED_CONFLICTS = 10;

/** Events that are remembered. A forgotten one waits less. */
const MAX_EVENTS = 10_000;

/** Counts how often events ran in vain, because another run changed a state that they had read. */
export class Conflicts {
  readonly #options: ConflictsOptions;
  /** Conflicts in a row, by event id. */
  readonly #counts = new Map<string, number>();

  constructor(options: ConflictsOptions) {
    this.#options = options;
  }

  /** Counts a conflict. Returns the ms until the next run: none at first, up to a second for a state that changes fast. */
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

  /** Called when a run of the event had another end. */
  forget({ id }: Claim): void {
    if (this.#counts.size > 0) this.#counts.delete(id);
  }
}
