import type { ClockView } from "../../../types.ts";

/** The clock as it was read, and when, in milliseconds by the browser's own clock. */
export interface ReadClock {
  readonly view: ClockView;
  readonly readAt: number;
}

/** How far a signature's time may be from the bot's clock, in milliseconds (section 5, rule 7). */
const REPLAY_WINDOW_MS = 300_000;

/** Below this the clock counts as the machine's own, in milliseconds: a request takes its time. */
const NO_OFFSET_MS = 1_000;

/** What the platform's clock shows at a moment of the browser's, in milliseconds since 1970. */
export function shownTime({ view, readAt }: ReadClock, at: number): number {
  return Date.parse(view.now) + (view.frozen ? 0 : at - readAt);
}

/** How far the platform's clock is ahead of the machine's at that moment: it grows backwards while it is frozen. */
export function offsetAt({ view, readAt }: ReadClock, at: number): number {
  return view.offsetMs - (view.frozen ? at - readAt : 0);
}

export function isMachineTime(offsetMs: number): boolean {
  return Math.abs(offsetMs) < NO_OFFSET_MS;
}

/** True when a bot with the machine's time refuses deliveries. */
export function isRefused(offsetMs: number): boolean {
  return Math.abs(offsetMs) > REPLAY_WINDOW_MS;
}

/**
 * The time that was typed into a field for local times, taken as UTC.
 *
 * @throws {Error} it is no time
 */
export function typedTime(typed: string): string {
  const time = Date.parse(`${typed}Z`);
  if (Number.isNaN(time)) throw new Error("Type a date and a time, in UTC.");
  return new Date(time).toISOString();
}
