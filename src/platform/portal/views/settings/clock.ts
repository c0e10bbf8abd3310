import type { ClockView } from "../../../types.ts";

/** The platform clock's state, and when the browser read it, in ms since 1970. */
export interface ReadClock {
  readonly view: ClockView;
  readonly readAt: number;
}

/**
 * Maximum difference between a signature's time and the bot's clock, in ms (section 5 of the platform document, rule
 * 7).
 */
const REPLAY_WINDOW_MS = 300_000;

/** In ms. A smaller offset may just be the duration of the request. */
const NO_OFFSET_MS = 1_000;

/** Converts the browser's time to the platform's, in ms since 1970. */
export function toPlatformTime({ view, readAt }: ReadClock, at: number): number {
  return Date.parse(view.now) + (view.frozen ? 0 : at - readAt);
}

/** Returns the platform clock's offset from the machine's clock, in ms. A frozen clock falls behind. */
export function offsetAt({ view, readAt }: ReadClock, at: number): number {
  return view.offsetMs - (view.frozen ? at - readAt : 0);
}

export function isMachineTime(offsetMs: number): boolean {
  return Math.abs(offsetMs) < NO_OFFSET_MS;
}

/** Returns whether a bot that uses the machine's time rejects deliveries. */
export function isRefused(offsetMs: number): boolean {
  return Math.abs(offsetMs) > REPLAY_WINDOW_MS;
}
