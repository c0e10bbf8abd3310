import { version } from "../core/version.ts";
import { BudgetState } from "./budget-state.ts";
import { DiskState } from "./disk-state.ts";
import { LogState } from "./log-state.ts";
import type { StoreLook } from "./looks.ts";
import { gauge } from "./make.ts";
import type { Gauge, Registry } from "./prom.ts";
import type { Sources } from "./sources.ts";

const modes = ["auditing", "polling", "webhook"] as const;

/** What is so at the moment when somebody asks. What the store alone knows is NaN while it does not answer. */
export class State {
  readonly #sources: Sources;
  readonly #ready: Gauge;
  readonly #storeUp: Gauge;
  readonly #pending: Gauge;
  readonly #oldestPending: Gauge;
  readonly #dead: Gauge;
  readonly #running: Gauge;
  readonly #lastDelivery: Gauge;
  readonly #instances: Gauge;
  readonly #skew: Gauge;
  readonly #mode: Gauge<"mode">;
  /** What one bot has and another has not. */
  readonly #parts: readonly { update(look: StoreLook | undefined): void }[];

  constructor(registry: Registry, sources: Sources) {
    const make = (name: string, help: string) => gauge(registry, `service_bot_${name}`, help);
    this.#sources = sources;
    const { delivery, store, concurrency } = sources.settings;
    gauge(registry, "service_bot_build_info", "1, with what runs here.", [
      "version",
      "store",
      "delivery",
    ]).set({ version: version(), store, delivery }, 1);
    this.#ready = make("ready", "1 while /readyz says 200.");
    this.#storeUp = make("store_up", "1 when the store answered this scrape in time.");
    this.#pending = make("events_pending", "Events that are not handled yet, on all instances.");
    this.#oldestPending = make(
      "oldest_pending_age_seconds",
      "How long ago the oldest pending event was received; 0 when there is none.",
    );
    this.#dead = make("dead_letters", "Events that wait for a person, on all instances.");
    this.#running = make("handlers_running", "Conversations and posts that are handled now.");
    make("handlers_limit", "How many of them at most.").set(concurrency);
    this.#lastDelivery = make(
      "last_delivery_timestamp_seconds",
      "When this instance last stored a delivery; 0 when it has stored none.",
    );
    this.#instances = make("instances", "Instances that gave a sign of life lately.");
    this.#skew = make(
      "clock_skew_seconds",
      "How far this machine's clock is ahead of the platform's, by the Date of its last answer.",
    );
    this.#mode = gauge(registry, "service_bot_mode", "1 for what brings the events now.", ["mode"]);
    this.#parts = partsOf(registry, sources);
  }

  /** @param look what the store says; undefined where it says nothing */
  update(look: StoreLook | undefined): void {
    const { isStarted, dispatcher, poller } = this.#sources;
    const mode = poller?.status.mode ?? "webhook";
    for (const each of modes) this.#mode.set({ mode: each }, each === mode ? 1 : 0);
    this.#ready.set(isStarted() && look !== undefined ? 1 : 0);
    this.#running.set(dispatcher.running);
    this.#tellStore(look);
    this.#tellTimes(look);
    for (const part of this.#parts) part.update(look);
  }

  #tellStore(look: StoreLook | undefined): void {
    const measures = look?.measures;
    this.#storeUp.set(look === undefined ? 0 : 1);
    this.#pending.set(measures?.pending ?? Number.NaN);
    this.#dead.set(measures?.dead ?? Number.NaN);
    const alone = this.#sources.inbox.shared === undefined;
    this.#instances.set(look?.shared?.instances.length ?? (alone ? 1 : Number.NaN));
  }

  #tellTimes(look: StoreLook | undefined): void {
    const { clock, wall, client, receiver } = this.#sources;
    const oldest = look === undefined ? Number.NaN : (look.measures.oldestPendingAt ?? clock.now());
    this.#oldestPending.set(Math.max(0, clock.now() - oldest) / 1000);
    this.#lastDelivery.set((receiver.lastDeliveryAt ?? 0) / 1000);
    const platform = client.platformNow();
    this.#skew.set(platform === undefined ? Number.NaN : (wall.now() - platform) / 1000);
  }
}

function partsOf(registry: Registry, sources: Sources) {
  const { poller, inbox, client } = sources;
  return [
    ...(poller === undefined ? [] : [new LogState(registry, poller, sources)]),
    ...(client.requests === undefined ? [] : [new BudgetState(registry, client)]),
    ...(inbox.capabilities.guardsDisk ? [new DiskState(registry)] : []),
  ];
}
