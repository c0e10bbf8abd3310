import * as z from "zod";
import { type Clock, MAX_TIMER_MS, type TimerOptions } from "../core/clock.ts";
import { invalid } from "./error.ts";
import type { Schemas } from "./http/body.ts";
import type { SavedSettings } from "./store/store.ts";
import type { Timeline } from "./timeline/timeline.ts";

export interface ClockSetting {
  /** Difference from the machine's clock, in ms. Negative if the platform's clock is behind. */
  readonly offsetMs: number;
  /** Time at which the clock is frozen, in ms since 1970. `null` while the clock is running. */
  readonly frozenAt: number | null;
}

const MACHINE_TIME: ClockSetting = { offsetMs: 0, frozenAt: null };

/** 9999-12-31T23:59:59.999Z in ms since 1970. A later year would need more than four digits. */
const LAST_TIME = 253_402_300_799_999;

function timeAt(real: number, { offsetMs, frozenAt }: ClockSetting): number {
  return frozenAt ?? real + offsetMs;
}

// Treat an unreadable value as unset, because a user may load any state file.
const saved: z.ZodType<ClockSetting> = z
  .object({
    offsetMs: z.number().min(-LAST_TIME).max(LAST_TIME),
    frozenAt: z.number().min(0).max(LAST_TIME).nullable(),
  })
  .catch(MACHINE_TIME);

interface Timer {
  /** Due time on this clock, in ms since 1970. */
  due: number;
  readonly fn: () => void;
  readonly options: TimerOptions;
  disarm: () => void;
}

/** Follows the machine's time, unless a user has moved or frozen the clock. Timers follow this clock. */
export class PlatformClock implements Clock {
  /** The machine's clock, for connection timeouts and durations. */
  readonly real: Clock;
  readonly #timers = new Set<Timer>();
  #setting: ClockSetting = MACHINE_TIME;
  #settings: Pick<SavedSettings, "put"> | undefined;

  constructor(real: Clock) {
    this.real = real;
  }

  /** Restores the setting stored in the state, and stores later settings there. */
  load(settings: SavedSettings): void {
    this.#settings = settings;
    this.set(saved.parse(settings.get("clock")));
  }

  get setting(): ClockSetting {
    return this.#setting;
  }

  now(): number {
    return timeAt(this.real.now(), this.#setting);
  }

  timer(ms: number, fn: () => void, options: TimerOptions = {}): () => void {
    const timer = { due: this.now() + Math.max(ms, 0), fn, options, disarm: () => {} };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      timer.disarm();
      this.#timers.delete(timer);
    };
  }

  /** Moves, freezes or resumes the clock. Timers that become due fire in order before `set` returns. */
  set(setting: ClockSetting): void {
    const before = this.now();
    this.#setting = setting;
    this.#settings?.put("clock", setting);
    const now = this.now();
    // Setting the clock back must not lengthen a timer's wait.
    const back = Math.max(before - now, 0);
    const timers = [...this.#timers];
    for (const timer of timers) {
      timer.disarm();
      timer.due -= back;
      if (timer.due > now) this.#arm(timer);
    }
    const due = timers.filter((timer) => timer.due <= now).sort((a, b) => a.due - b.due);
    for (const timer of due) this.#fire(timer);
  }

  #arm(timer: Timer): void {
    const ms = timer.due - this.now();
    if (this.#setting.frozenAt !== null && ms > 0) return;
    const far = ms > MAX_TIMER_MS;
    const fn = () => (far ? this.#arm(timer) : this.#fire(timer));
    timer.disarm = this.real.timer(Math.min(ms, MAX_TIMER_MS), fn, timer.options);
  }

  // An earlier timer may have cancelled this one.
  #fire(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.fn();
  }
}

/** The current state of the platform's clock. */
export interface ClockView {
  /** ISO 8601, UTC. */
  readonly now: string;
  /** Difference from the machine's clock, in ms. Negative if the platform's clock is behind. */
  readonly offsetMs: number;
  readonly frozen: boolean;
}

/** Change to the clock. Omitted fields stay unchanged. */
export interface ClockChange {
  /** New time: ISO 8601 with a time zone, from 1970 to 9999. Cannot be combined with `advanceMs`. */
  readonly now?: string | undefined;
  /** Time by which to advance the clock, in whole ms, 0 or more. */
  readonly advanceMs?: number | undefined;
  /** True freezes the clock; false resumes it from its current time. */
  readonly frozen?: boolean | undefined;
}

const clockChange: z.ZodType<ClockChange> = z.strictObject({
  now: z.string().optional(),
  advanceMs: z.number().optional(),
  frozen: z.boolean().optional(),
});

export const clockSchemas: Schemas<ClockControl> = { set: { change: clockChange } };

/** Stricter than `Date`, which accepts February 30. */
const isoTime: z.ZodType<string> = z.iso.datetime({ offset: true });

export interface ClockControlOptions {
  readonly clock: PlatformClock;
  readonly timeline: Timeline;
}

/** Moves the platform's clock, which determines event times, signatures, lifetimes, quotas and retries. */
export class ClockControl {
  readonly #options: ClockControlOptions;

  /** @internal */
  constructor(options: ClockControlOptions) {
    this.#options = options;
  }

  /** The current time, and whether the clock is frozen. */
  get view(): ClockView {
    const { clock } = this.#options;
    // Read the machine's clock only once, because it advances between two reads.
    const real = clock.real.now();
    const now = timeAt(real, clock.setting);
    return {
      now: new Date(now).toISOString(),
      offsetMs: now - real,
      frozen: clock.setting.frozenAt !== null,
    };
  }

  /**
   * Moves, freezes or resumes the clock. Timers that become due fire immediately.
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
      detail: frozen ? `frozen at ${now}` : `running from ${now}`,
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
  if (now !== undefined && advanceMs !== 0) throw invalid("pass either now or advanceMs, not both");
  if (!Number.isInteger(advanceMs) || advanceMs < 0) {
    throw invalid("advanceMs must be a whole number, 0 or more; use now to set the clock back");
  }
  if (now !== undefined && !isoTime.safeParse(now).success) {
    throw invalid(
      "now must be an ISO 8601 time with a time zone, such as 2030-01-31T00:00:00.000Z",
    );
  }
  const after = now === undefined ? before + advanceMs : Date.parse(now);
  if (after >= 0 && after <= LAST_TIME) return after;
  throw invalid("the clock must stay between 1970 and 9999");
}
