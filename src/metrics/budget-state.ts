import { gauge } from "./make.ts";
import type { Gauge, Registry } from "./prom.ts";
import type { Sources } from "./sources.ts";

/** Rest of the budget of requests. */
export class BudgetState {
  readonly #client: Sources["client"];
  readonly #limit: Gauge;
  readonly #left: Gauge;
  readonly #waiting: Gauge;

  constructor(registry: Registry, client: Sources["client"]) {
    const make = (name: string, help: string) =>
      gauge(registry, `service_bot_request_budget_${name}`, help);
    this.#client = client;
    this.#limit = make("limit", "Requests a minute, as the share of this instance.");
    this.#left = make("left", "Requests that this instance may send at this moment.");
    this.#waiting = make("waiting", "Requests of this instance that wait to be sent.");
  }

  update(): void {
    const { perMinute = 0, left = 0, waiting = 0 } = this.#client.requests ?? {};
    this.#limit.set(perMinute);
    this.#left.set(left);
    this.#waiting.set(waiting);
  }
}
