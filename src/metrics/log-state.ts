import type { StoreLook } from "./looks.ts";
import { gauge } from "./make.ts";
import type { Gauge, Registry } from "./prom.ts";
import type { Sources } from "./sources.ts";

/** How far the event log is read, and by whom. */
export class LogState {
  readonly #sources: Sources;
  readonly #poller: NonNullable<Sources["poller"]>;
  readonly #lag: Gauge;
  readonly #interval: Gauge;
  readonly #readers: Gauge;
  readonly #leads: Gauge;

  constructor(registry: Registry, poller: NonNullable<Sources["poller"]>, sources: Sources) {
    const make = (name: string, help: string) => gauge(registry, `service_bot_log_${name}`, help);
    this.#sources = sources;
    this.#poller = poller;
    this.#lag = make(
      "lag_seconds",
      "How long ago the last reading began that came to the end of the event log; before the first one, since the start.",
    );
    this.#interval = make(
      "interval_seconds",
      "How often the event log is to be read in this mode.",
    );
    this.#readers = make("readers", "How many instances read the event log: one, or none.");
    this.#leads = make("reader", "1 while it is this instance that reads the event log.");
  }

  update(look: StoreLook | undefined): void {
    const { clock, startedAt, settings, inbox } = this.#sources;
    const { mode, readToEndAt } = this.#poller.status;
    const isPolling = mode === "polling";
    this.#lag.set(Math.max(0, clock.now() - (readToEndAt ?? startedAt)) / 1000);
    this.#interval.set((isPolling ? settings.pollIntervalMs : settings.auditIntervalMs) / 1000);
    const leads = this.#poller.leads ? 1 : 0;
    this.#leads.set(leads);
    if (inbox.shared === undefined) this.#readers.set(leads);
    else this.#readers.set(readersIn(look));
  }
}

function readersIn(look: StoreLook | undefined): number {
  if (look === undefined) return Number.NaN;
  return look.shared?.poller?.holder === undefined ? 0 : 1;
}
