import type { ClockView } from "../../../types.ts";

/** The clock of the platform, and the time of the browser when it was read, in ms. */
export interface ReadClock {
  readonly view: ClockView;
  readonly readAt: number;
}

/** In ms. The difference between a signature's time and the bot's clock (section 5, rule 7). */
const REPLAY_WINDOW_MS = 300_000;

/** In ms. A smaller offset is the duration of a request. */
const NO_OFFSET_MS = 1_000;

/** Computes the platform's time from the browser's, in ms since 1970. */
export function shownTime({ view, readAt }: ReadClock, at: number): number {
  return Date.parse(view.now) + (view.frozen ? 0 : at - readAt);
}

/** Computes how far the platform's clock is ahead of the machine's, in ms. A frozen clock falls behind. */
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
