/**
 * The mark of an inbox that came from a backup. A process may have handled events after the backup was taken, of which
 * this inbox knows nothing: its events are pending here, and its steps look new. The mark is a cursor, so every version
 * of the inbox can hold it, and a copy takes it along.
 */

/** Name of the mark among the cursors. */
export const RESTORED = "restored";

/** Fence of an open step whose effect is known not to have happened: a run or a person has found that out. */
export const ABSENT: number = -1;

/** Steps that a restore forgets, because a run after the backup may have made them all the same. */
export const FORGET_ABSENT: string = `state = 'open' AND fence = ${ABSENT}`;

export interface RestoreMark {
  /** When the inbox was restored, in ms since 1970 on the clock of that machine. */
  readonly at: number;
  /**
   * In ms since 1970 on the platform's clock. No event created later was handled before the restore. `undefined` until
   * a bot has learned the platform's time, or an operator has given one.
   */
  readonly until?: number | undefined;
  /** When a bot first read the log to its end since, on the same clock as `at`. The events after the backup are back. */
  readonly readAt?: number | undefined;
}

export function writeRestoreMark(mark: RestoreMark): string {
  return JSON.stringify(mark);
}

/** @param position of the cursor of that name; `undefined` if the inbox was never restored */
export function readRestoreMark(position: string | undefined): RestoreMark | undefined {
  if (position === undefined) return undefined;
  const mark: RestoreMark = JSON.parse(position);
  return mark;
}
