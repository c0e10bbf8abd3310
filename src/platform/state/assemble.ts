import { ClockControl } from "../clock/clock-control.ts";
import type { PlatformClock } from "../clock/platform-clock.ts";
import type { Limits } from "../limits/limits.ts";
import type { LimitSettings } from "../limits/settings.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Uploads } from "../uploads/uploads.ts";
import { KeptSettings } from "./kept-settings.ts";
import { Snapshots } from "./snapshots.ts";
import { WholeState } from "./whole-state.ts";

export interface StateOptions {
  readonly store: Store;
  readonly clock: PlatformClock;
  readonly timeline: Timeline;
  readonly limits: Limits;
  readonly uploads: Uploads;
  /** Limits that come before those that were kept. */
  readonly given: Partial<LimitSettings>;
  /** They end when the state is replaced. */
  readonly faults: readonly { end(): void }[];
  /** Its open requests are cut then. */
  readonly sender: { cut(why: string): void };
  /** They forget what they wait for, and look at what is owed now. */
  readonly deliveries: { reset(): void; wakeAll(): void };
  /** What waits for a time that stands in the state. */
  readonly timers: readonly { stop(): void; wake(): void }[];
}

/** What concerns the state as a whole. */
export interface StateParts {
  readonly kept: KeptSettings;
  readonly whole: WholeState;
  readonly clockControl: ClockControl;
  readonly snapshots: Snapshots;
}

/** Puts the parts together, with the settings that were kept. */
export function assembleState(options: StateOptions): StateParts {
  const { store, clock, timeline, limits, uploads, given } = options;
  const { faults, sender, deliveries, timers } = options;
  const kept = new KeptSettings({ store, limits, uploads, clock });
  kept.load(given);
  kept.save();
  const whole = new WholeState({
    ...{ store, kept, clock, timeline, limits: given },
    end: () => {
      for (const fault of faults) fault.end();
      sender.cut("the state was replaced");
      deliveries.reset();
      for (const timer of timers) timer.stop();
    },
    begin: () => {
      for (const timer of timers) timer.wake();
      deliveries.wakeAll();
    },
  });
  return {
    kept,
    whole,
    clockControl: new ClockControl({ clock, timeline, keep: () => kept.save() }),
    snapshots: new Snapshots({ state: whole, clock, timeline }),
  };
}
