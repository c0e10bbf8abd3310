import type { Clock } from "../../faces/core.ts";
import type { Random } from "../../faults/random.ts";
import type { LogEvent } from "./event-log.ts";

export interface WebhookOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly disableAfter: number;
  /** True if events from before and during the outage are sent once the webhook is enabled again. */
  readonly keepsBacklog: boolean;
  readonly batch: number;
  /** Time between two batches of a backlog, in ms. */
  readonly drainMs: number;
  /** Returns false for any status except 2xx. */
  readonly send: (events: readonly LogEvent[]) => boolean;
  readonly onDisabled: () => void;
  readonly onBehind: () => void;
}

/** In ms. An event that waits longer reaches the bot too late, even if its delivery succeeds. */
const BEHIND_MS = 35_000;

const ROUND_MS = 30_000;

export class Webhook {
  readonly #options: WebhookOptions;
  #waiting: LogEvent[] = [];
  #failures = 0;
  #scheduled = false;
  enabled = true;
  /** Subscribed event types. `undefined` means all. */
  types: ReadonlySet<string> | undefined;

  constructor(options: WebhookOptions, types: ReadonlySet<string> | undefined) {
    this.#options = options;
    this.types = types;
  }

  isFor(type: string): boolean {
    return this.types === undefined || this.types.has(type);
  }

  offer(event: LogEvent): void {
    if (!this.isFor(event.type)) return;
    if (!this.enabled && !this.#options.keepsBacklog) return;
    this.#waiting.push(event);
    const { random } = this.#options;
    // The network is sometimes slow.
    this.#schedule(random.chance(0.02) ? 4_000 : 50 + random.below(1_000));
  }

  disable(): void {
    this.enabled = false;
    if (!this.#options.keepsBacklog) this.#waiting = [];
  }

  enable(): void {
    this.enabled = true;
    this.#failures = 0;
    this.#schedule(1_000);
  }

  #schedule(ms: number): void {
    if (this.#scheduled || !this.enabled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    this.#options.clock.timer(ms, () => {
      this.#scheduled = false;
      if (this.enabled) this.#attempt();
    });
  }

  #attempt(): void {
    const { batch, send, drainMs, disableAfter, onDisabled } = this.#options;
    this.#waiting.sort((a, b) => a.seq - b.seq);
    const events = this.#waiting.slice(0, batch);
    if (events.length === 0) return;
    if (send(events)) {
      this.#failures = 0;
      this.#waiting = this.#waiting.slice(events.length);
      this.#schedule(drainMs);
      const oldest = this.#waiting[0]?.madeAt ?? Number.POSITIVE_INFINITY;
      if (this.#options.clock.now() - oldest > BEHIND_MS - drainMs) this.#options.onBehind();
      return;
    }
    this.#failures += 1;
    if (this.#failures < disableAfter) {
      this.#schedule(ROUND_MS);
      return;
    }
    this.disable();
    onDisabled();
  }
}
