import type { PlatformClock } from "../clock/platform-clock.ts";
import type { LimitSettings } from "../limits/settings.ts";
import { seed } from "../store/seed.ts";
import { openCopy, openSnapshot } from "../store/snapshot.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { KeptSettings } from "./kept-settings.ts";

export interface WholeStateOptions {
  readonly store: Store;
  readonly kept: KeptSettings;
  readonly clock: PlatformClock;
  readonly timeline: Timeline;
  /** The limits of a new state. */
  readonly limits: Partial<LimitSettings>;
  /** Ends what belongs to the state before: faults, deliveries under way, timers. */
  readonly end: () => void;
  /** Begins what the new state owes. */
  readonly begin: () => void;
}

/** Everything that the platform remembers, as one. */
export class WholeState {
  readonly #options: WholeStateOptions;

  constructor(options: WholeStateOptions) {
    this.#options = options;
  }

  /** Begins what it owes: what was to come late, deliveries, and what is to be removed. Once the platform listens. */
  begin(): void {
    this.#options.begin();
  }

  /** A copy of everything, as a SQLite file. */
  copy(): Uint8Array {
    return this.#options.store.copy();
  }

  /**
   * Makes a file that comes from outside fit for this platform: of this version, and with the standard token
   * and the webhook's secret of this one, so that the bot beside it goes on working.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  adopt(file: Uint8Array): Uint8Array {
    const { store, clock } = this.#options;
    const other = openSnapshot(file);
    try {
      seed(other, { ...secretsOf(store), now: clock.now() });
      return other.copy();
    } finally {
      other.close();
    }
  }

  /**
   * Replaces everything by what a copy holds.
   *
   * @param copy of `copy` or `adopt`
   * @param name what the timeline calls it
   */
  restore(copy: Uint8Array, name: string): void {
    const { store, kept } = this.#options;
    const other = openCopy(copy);
    try {
      store.replace(other, () => {});
    } finally {
      other.close();
    }
    this.#goOn("restored", name, () => kept.load());
  }

  /** Begins anew, as a new state file does; the first app keeps its tokens and its secret. */
  reset(): void {
    const { store, kept, clock, limits } = this.#options;
    const secrets = secretsOf(store);
    const tokens = store.tokens.keysOf(store.people.bot().seq);
    store.replace(undefined, () => {
      seed(store, { ...secrets, now: clock.real.now() });
      const bot = store.people.bot().seq;
      for (const { apiKey, scopes } of tokens) store.tokens.add(apiKey, bot, scopes);
    });
    this.#goOn("reset", "a new state", () => {
      kept.load(limits);
      kept.save();
    });
  }

  /** The clock is set in between: nothing of the state before may run then, nor anything of this one before. */
  #goOn(change: "restored" | "reset", detail: string, load: () => void): void {
    const { timeline, end } = this.#options;
    end();
    load();
    timeline.add({ kind: "state", change, detail });
    this.begin();
  }
}

function secretsOf(store: Store): { apiKey: string | undefined; webhookSecret: string } {
  const { secret } = store.webhook.get(store.people.bot().seq);
  return { apiKey: store.tokens.standard(), webhookSecret: secret };
}
