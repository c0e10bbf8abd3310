import * as z from "../../core/zod.ts";
import { invalid } from "../error.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { type ClockSetting, LAST_TIME, type PlatformClock, timeAt } from "./platform-clock.ts";

/** The platform's clock as it stands. */
export interface ClockView {
  /** ISO 8601, UTC. */
  readonly now: string;
  /** How far it is ahead of the machine's clock, in milliseconds; negative when it is behind. */
  readonly offsetMs: number;
  /** True while it stands still. */
  readonly frozen: boolean;
}

/** How to move the clock. What is absent stays as it is. */
export interface ClockChange {
  /** The time to set: ISO 8601 with its zone, 1970 to 9999. Not together with `advanceMs`. */
  readonly now?: string | undefined;
  /** How far to move on, in whole milliseconds from 0 up. */
  readonly advanceMs?: number | undefined;
  /** True stops the clock, false lets it go on from where it stands. */
  readonly frozen?: boolean | undefined;
}

/** Knows how long a month is, which `Date` does not. */
const isoTime: z.ZodType<string> = z.iso.datetime({ offset: true });

export interface ClockControlOptions {
  readonly clock: PlatformClock;
  readonly timeline: Timeline;
}

/** Moves the platform's clock. What it shows holds for events, signatures, lifetimes, quotas and retries. */
export class ClockControl {
  readonly #options: ClockControlOptions;

  constructor(options: ClockControlOptions) {
    this.#options = options;
  }

  /** What it shows, and whether it stands. */
  get view(): ClockView {
    const { clock } = this.#options;
    // Read once: between two readings the machine's clock goes on.
    const real = clock.real.now();
    const now = timeAt(real, clock.setting);
    return {
      now: new Date(now).toISOString(),
      offsetMs: now - real,
      frozen: clock.setting.frozenAt !== null,
    };
  }

  /**
   * Moves, stops or starts the clock. Waits that are over by then end at once.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  set(change: ClockChange): ClockView {
    const { clock, timeline } = this.#options;
    clock.set(settingAfter(change, clock));
    const { now, frozen } = this.view;
    timeline.add({
      kind: "state",
      change: "clock",
      detail: frozen ? `stands still at ${now}` : `goes on from ${now}`,
    });
    return this.view;
  }
}

function settingAfter(change: ClockChange, clock: PlatformClock): ClockSetting {
  const real = clock.real.now();
  const now = timeAfter(change, timeAt(real, clock.setting));
  if (change.frozen ?? clock.setting.frozenAt !== null) return { offsetMs: 0, frozenAt: now };
  return { offsetMs: now - real, frozenAt: null };
}

function timeAfter({ now, advanceMs = 0 }: ClockChange, before: number): number {
  if (now !== undefined && advanceMs !== 0) throw invalid("give either now or advanceMs, not both");
  if (!Number.isInteger(advanceMs) || advanceMs < 0) {
    throw invalid("advanceMs must be a whole number from 0 up; to go back, set now");
  }
  if (now !== undefined && !isoTime.safeParse(now).success) {
    throw invalid("now must be an ISO 8601 time with its zone, such as 2030-01-31T00:00:00.000Z");
  }
  const after = now === undefined ? before + advanceMs : Date.parse(now);
  if (after >= 0 && after <= LAST_TIME) return after;
  throw invalid("the clock goes from 1970 to 9999");
}
