import { type Clock, MAX_TIMER_MS, type TimerOptions } from "../core/clock.ts";
import * as z from "../core/zod.ts";
import { invalid } from "./error.ts";
import type { SavedSettings } from "./store/store.ts";
import type { Timeline } from "./timeline/timeline.ts";

/** How the platform's clock stands. */
export interface ClockSetting {
  /** How far it is ahead of the machine's, in milliseconds; negative when it is behind. */
  readonly offsetMs: number;
  /** Time at which the clock is frozen, in milliseconds since 1970. Null while it runs. */
  readonly frozenAt: number | null;
}

/** The clock of the machine. */
const MACHINE_TIME: ClockSetting = { offsetMs: 0, frozenAt: null };

/** 9999-12-31T23:59:59.999Z, in milliseconds since 1970: a later year has no four digits. */
const LAST_TIME = 253_402_300_799_999;

/** Returns the platform's time when the machine's is `real`. */
function timeAt(real: number, { offsetMs, frozenAt }: ClockSetting): number {
  return frozenAt ?? real + offsetMs;
}

// An unreadable value counts as never set, because a state file may come from anywhere.
const saved: z.ZodType<ClockSetting> = z
  .object({
    offsetMs: z.number().min(-LAST_TIME).max(LAST_TIME),
    frozenAt: z.number().min(0).max(LAST_TIME).nullable(),
  })
  .catch(MACHINE_TIME);

interface Timer {
  /** Milliseconds since 1970, on this clock. */
  due: number;
  readonly fn: () => void;
  readonly options: TimerOptions;
  /** Ends the wait on the machine's clock. */
  disarm: () => void;
}

/** The platform's time: the machine's, unless it is moved or stopped. Its timers follow. */
export class PlatformClock implements Clock {
  /** For what does not follow: time limits of connections, and how long something took. */
  readonly real: Clock;
  readonly #timers = new Set<Timer>();
  #setting: ClockSetting = MACHINE_TIME;
  #settings: Pick<SavedSettings, "put"> | undefined;

  constructor(real: Clock) {
    this.real = real;
  }

  /** Sets the clock as a state has it, and keeps what is set from now on in that state. */
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

  /** While the clock stands still, a timer waits until it is moved. */
  timer(ms: number, fn: () => void, options: TimerOptions = {}): () => void {
    const timer = { due: this.now() + Math.max(ms, 0), fn, options, disarm: () => {} };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      timer.disarm();
      this.#timers.delete(timer);
    };
  }

  /** Moves, stops or starts the clock. Timers that are due by then fire before this returns, in order. */
  set(setting: ClockSetting): void {
    const before = this.now();
    this.#setting = setting;
    this.#settings?.put("clock", setting);
    const now = this.now();
    // Going back in time makes no wait longer than it was.
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

  /** Does nothing for a timer that was cancelled, even if the timer before it did that. */
  #fire(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.fn();
  }
}

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

  /** Returns the time, and whether it is frozen. */
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
      detail: frozen ? `stands still at ${now}` : `runs from ${now}`,
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
