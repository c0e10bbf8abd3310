import type { LeaseLoss, Observer, RunOutcome } from "../core/observer.ts";
import { counter, histogram } from "./make.ts";
import type { Counter, Histogram, Registry } from "./prom.ts";
import { typeLabel, typeLabels } from "./types.ts";

/** From a handler that does nothing up to the longest that most may take, in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const outcome: readonly RunOutcome[] = ["done", "retry", "release", "dead", "lost", "unbegun"];
const what: readonly LeaseLoss[] = ["run", "result", "log"];

/** What becomes of events. */
export class Handling implements Pick<Observer, "ran" | "leaseLost"> {
  readonly #attempts: Counter<"type" | "outcome">;
  readonly #seconds: Histogram<"type">;
  readonly #leasesLost: Counter<"what">;

  constructor(registry: Registry) {
    this.#attempts = counter(
      registry,
      "service_bot_handler_attempts_total",
      "Runs of the handlers of an event, by what became of them.",
      { type: typeLabels, outcome },
    );
    this.#seconds = histogram(
      registry,
      "service_bot_handler_duration_seconds",
      "How long the handlers of one event ran, whatever became of them.",
      BUCKETS,
      ["type"],
    );
    this.#leasesLost = counter(
      registry,
      "service_bot_leases_lost_total",
      "Leases lost: noticed by a run, by a result that was refused, or of the event log.",
      { what },
    );
  }

  ran(type: string, outcome: RunOutcome, ms: number): void {
    const label = typeLabel(type);
    this.#attempts.inc({ type: label, outcome });
    if (outcome !== "unbegun") this.#seconds.observe({ type: label }, ms / 1000);
  }

  leaseLost(what: LeaseLoss): void {
    this.#leasesLost.inc({ what });
  }
}
