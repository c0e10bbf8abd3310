import type { Linked } from "../core/churn.ts";
import { ServiceBotError } from "../errors.ts";
import type { Claim } from "../inbox/inbox.ts";

/** Reason with which a stopping bot aborts its runs. */
export const stopping: ServiceBotError = new ServiceBotError(
  "NOT_READY",
  "The bot is stopping. It handles the event after the next start.",
);

/** Returns the reason with which a run is aborted if it has lost its lease. */
export function leaseLost({ lane }: Claim): ServiceBotError {
  return new ServiceBotError("LEASE_LOST", `Another instance has taken the lease on ${lane}.`);
}

/** Ends a run from outside. The signal is created on first use, because it is expensive and most runs need none. */
export class Abort implements Linked<Abort> {
  previous: Abort | undefined;
  next: Abort | undefined;
  /** When the run is late, on the dispatcher's clock. */
  deadline: number = Number.POSITIVE_INFINITY;
  #controller: AbortController | undefined;
  #over: { readonly reason: unknown } | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  get aborted(): boolean {
    return this.#over !== undefined;
  }

  get reason(): unknown {
    return this.#over?.reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over !== undefined) this.#controller.abort(this.#over.reason);
    return this.#controller.signal;
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    if (this.#over !== undefined) return;
    this.#over = { reason };
    this.#controller?.abort(reason);
    this.#reject?.(reason);
  }

  /** Settles like `work`, or rejects with the reason if aborted first. For one call only. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#over !== undefined) reject(this.#over.reason);
      work.then(resolve, reject);
    });
  }
}
