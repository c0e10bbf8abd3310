import type { BreakerChange } from "../client/breaker.ts";
import type { RequestReport } from "../client/http.ts";
import { operationOf } from "../client/request.ts";
import { counter, gauge, histogram } from "./make.ts";
import type { Counter, Gauge, Histogram, Registry } from "./prom.ts";

/** Of a request with a deadline of ten seconds, in seconds. */
const BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What is asked of the platform. */
export class Calls {
  readonly #requests: Counter<"operation" | "status" | "code">;
  readonly #seconds: Histogram<"operation">;
  readonly #heldBack: Counter<"code">;
  readonly #tokenRefused: Counter<"status">;
  readonly #circuits: Gauge<"circuit" | "why">;

  constructor(registry: Registry) {
    this.#requests = counter(
      registry,
      "service_bot_api_requests_total",
      "Requests to the platform, by the status and code of their answer.",
      { operation: [], status: [], code: [] },
    );
    this.#seconds = histogram(
      registry,
      "service_bot_api_request_duration_seconds",
      "How long one request to the platform took, its answer included.",
      BUCKETS,
      ["operation"],
    );
    this.#heldBack = counter(
      registry,
      "service_bot_api_held_back_total",
      "Requests that were not sent, for the platform is away or the budget is spent.",
      { code: ["API_CIRCUIT_OPEN", "API_BUDGET_SPENT"] },
    );
    this.#tokenRefused = counter(
      registry,
      "service_bot_token_refused_total",
      "Answers of the platform that refuse the token: not known (401), or without the scope (403).",
      { status: ["401", "403"] },
    );
    this.#circuits = gauge(
      registry,
      "service_bot_circuit_open",
      "1 while requests are held back: to the platform, or of one operation.",
      ["circuit", "why"],
    );
    this.#circuits.set({ circuit: "platform", why: "outages" }, 0);
    this.#circuits.set({ circuit: "token", why: "token" }, 0);
  }

  requested({ method, path, status, code, ms }: RequestReport): void {
    const operation = operationOf(method, path);
    // Without an answer and without an error of ours, its deadline was over, or its caller gave up.
    const told = code ?? (status === undefined ? "ABORTED" : "OK");
    this.#requests.inc({ operation, status: status ?? "none", code: told });
    this.#seconds.observe({ operation }, ms / 1000);
    // Whoever has blocked the bot is refused with 403, too, and that is no affair of the token.
    const lacksScope = status === 403 && (code === "AGENT_SCOPE_MISSING" || code === "API_ERROR");
    if (status === 401 || lacksScope) this.#tokenRefused.inc({ status });
  }

  heldBack(code: string): void {
    this.#heldBack.inc({ code });
  }

  circuit({ of, why, open }: BreakerChange): void {
    this.#circuits.set({ circuit: of, why }, open ? 1 : 0);
  }
}
