import type { Observer } from "../core/observer.ts";
import { counter } from "./make.ts";
import type { Counter, Registry } from "./prom.ts";

/** How the event log is read. */
export class Log implements Pick<Observer, "logRead" | "switched"> {
  readonly #reads: Counter<"code">;
  readonly #switches: Counter<"to">;

  constructor(registry: Registry) {
    this.#reads = counter(
      registry,
      "service_bot_log_reads_total",
      "Readings of the event log, by the code of their error.",
      { code: ["OK"] },
    );
    this.#switches = counter(
      registry,
      "service_bot_mode_switches_total",
      "Switches to polling, and back to auditing.",
      { to: ["auditing", "polling"] },
    );
  }

  logRead(code: string | undefined): void {
    this.#reads.inc({ code: code ?? "OK" });
  }

  switched(to: "auditing" | "polling"): void {
    this.#switches.inc({ to });
  }
}
