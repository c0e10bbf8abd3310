import { LinkedSet } from "../core/churn.ts";
import type { Clock } from "../core/clock.ts";
import { ServiceBotError } from "../errors.ts";
import type { Abort } from "./abort.ts";

/**
 * Aborts runs that take too long. All runs have the same time limit, so the oldest run is the first that is late, and
 * one timer serves all of them. A timer per run would cost more than most handlers.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #ms: number;
  /** Oldest first. */
  readonly #runs = new LinkedSet<Abort>();
  #cancel: (() => void) | undefined;

  /** @param ms time limit of a run */
  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Aborts the run after the time limit, unless it is deleted before. */
  add(run: Abort): void {
    run.deadline = this.#clock.now() + this.#ms;
    this.#runs.add(run);
    if (this.#cancel === undefined) this.#wakeIn(this.#ms);
  }

  delete(run: Abort): void {
    this.#runs.delete(run);
    if (this.#runs.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wakeIn(ms: number): void {
    this.#cancel = this.#clock.timer(ms, () => this.#abortLate());
  }

  #abortLate(): void {
    this.#cancel = undefined;
    const now = this.#clock.now();
    for (const run of this.#runs) {
      if (run.deadline > now) {
        this.#wakeIn(run.deadline - now);
        return;
      }
      this.#runs.delete(run);
      run.abort(timeout(this.#ms));
    }
  }
}

function timeout(ms: number): ServiceBotError {
  return new ServiceBotError(
    "HANDLER_TIMEOUT",
    `The handler did not finish within ${ms} ms. Pass ctx.signal to slow calls, or raise handlerTimeoutMs.`,
  );
}
