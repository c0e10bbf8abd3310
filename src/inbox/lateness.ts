import { keyFamily, orderKey } from "../events/id.ts";

/** Follows the sort keys of events that are never late. Sorts before every character of an id's tail. */
export const UNTIMED_MARK = " ";

/**
 * Returns the sort key of an event of the author's own type. The event keeps its place in the lane, but is never late,
 * and makes no other event late. Only the platform promises that a larger id means a later event.
 */
export function untimedKey(id: string): string {
  return orderKey(id) + UNTIMED_MARK;
}

/** Position of an event in its lane. */
export interface LanePosition {
  /** Sort key. Empty for timers and cron ticks, which are never late. */
  readonly ord: string;
  /** When the event arrived, in ms since 1970. */
  readonly receivedAt: number;
}

/** The event of a lane with the largest id of those that have ended. */
export interface LaneEnd {
  /** Sort key. Empty if there was none. */
  readonly ord: string;
  /** When the event ended, in ms since 1970. */
  readonly at: number;
}

/**
 * Time after which an ended event no longer makes other events late, in ms. Otherwise a single id that jumped ahead
 * would make all later events late forever.
 */
export const LATE_WITHIN_MS: number = 24 * 60 * 60_000;

/** Returns whether an event's end counts for the lateness of other events in its lane. */
export function isTimed(ord: string): boolean {
  return ord !== "" && !ord.endsWith(UNTIMED_MARK);
}

/**
 * Returns whether an event arrived within a day after the end of an event with a larger id in its lane. Ids of
 * different families are not compared.
 */
export function isLate({ ord, receivedAt }: LanePosition, end: LaneEnd): boolean {
  return (
    ord < end.ord &&
    isTimed(ord) &&
    receivedAt <= end.at + LATE_WITHIN_MS &&
    keyFamily(ord) === keyFamily(end.ord)
  );
}
