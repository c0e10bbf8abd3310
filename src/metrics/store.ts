import type { Observer, StoreFailure } from "../core/observer.ts";
import { counter, histogram, STORE_BUCKETS } from "./make.ts";
import type { Counter, Histogram, Registry } from "./prom.ts";

const reason: readonly StoreFailure[] = ["disk_low", "disk_full", "locked", "away", "broken"];

/** How the store does. */
export class Store implements Pick<Observer, "committed" | "storeFailed"> {
  readonly #seconds: Histogram;
  readonly #failures: Counter<"reason">;

  constructor(registry: Registry) {
    this.#seconds = histogram(
      registry,
      "service_bot_store_transaction_duration_seconds",
      "One transaction of the inbox: in a file until it is on the disk, in PostgreSQL until it is answered.",
      STORE_BUCKETS,
    );
    this.#failures = counter(
      registry,
      "service_bot_store_failures_total",
      "What the store could not do, by the reason.",
      { reason },
    );
  }

  committed(ms: number): void {
    this.#seconds.observe(ms / 1000);
  }

  storeFailed(reason: StoreFailure): void {
    this.#failures.inc({ reason });
  }
}
