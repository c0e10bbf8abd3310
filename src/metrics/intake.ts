import type { Observer } from "../core/observer.ts";
import { counter, histogram, STORE_BUCKETS } from "./make.ts";
import type { Counter, Histogram, Registry } from "./prom.ts";
import { typeLabel, typeLabels } from "./types.ts";

/** How those are counted that were taken. */
const OK = "OK";

/** The answers that are there from the start; whatever else there is begins with its first. */
const answers = [
  ["200", OK],
  ["400", "SIGNATURE_MISSING"],
  ["400", "SIGNATURE_MALFORMED"],
  ["400", "SIGNATURE_STALE"],
  ["401", "SIGNATURE_MISMATCH"],
  ["400", "BODY_INVALID"],
  ["413", "BODY_TOO_LARGE"],
  ["503", "INBOX_FULL"],
  ["503", "STORE_UNAVAILABLE"],
] as const;

const source = ["webhook", "poll"];

/** What comes in. */
export class Intake implements Pick<Observer, "answered" | "arrived"> {
  readonly #deliveries: Counter<"status" | "code">;
  readonly #seconds: Histogram;
  readonly #events: Counter<"type" | "source">;
  readonly #duplicates: Counter<"source">;
  readonly #unusable: Counter<"source">;

  constructor(registry: Registry) {
    this.#deliveries = counter(
      registry,
      "service_bot_deliveries_total",
      "Deliveries of the webhook, by the status and code of their answer.",
      { status: [], code: [] },
    );
    for (const [status, code] of answers) this.#deliveries.inc({ status, code }, 0);
    this.#seconds = histogram(
      registry,
      "service_bot_delivery_duration_seconds",
      "From the whole body of a delivery until its answer, where its signature was good.",
      STORE_BUCKETS,
    );
    this.#events = counter(registry, "service_bot_events_total", "New events stored.", {
      type: typeLabels,
      source,
    });
    this.#duplicates = counter(
      registry,
      "service_bot_events_duplicate_total",
      "Events that came and were in the inbox already.",
      { source },
    );
    this.#unusable = counter(
      registry,
      "service_bot_events_unusable_total",
      "New events that cannot be handled: dead letters from the start.",
      { source },
    );
  }

  answered(status: number, code: string | undefined, ms: number | undefined): void {
    this.#deliveries.inc({ status, code: code ?? OK });
    // The system's time, by which deliveries are dated, may have been set back.
    if (ms !== undefined) this.#seconds.observe(Math.max(0, ms) / 1000);
  }

  arrived(...[door, events, result]: Parameters<Observer["arrived"]>): void {
    const isNew = new Set(result.stored);
    for (const { id, type } of events) {
      // Each once, also where it was twice in the batch.
      if (isNew.delete(id)) this.#events.inc({ type: typeLabel(type), source: door });
    }
    this.#duplicates.inc({ source: door }, result.duplicates);
    this.#unusable.inc({ source: door }, result.unusable);
  }
}
