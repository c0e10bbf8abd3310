/**
 * Marks an inbox as restored from a backup. A process may have handled events after the backup was taken. In the
 * restored inbox, these events are pending and their steps look new. The mark is stored as a cursor, so that every
 * schema version can store it and a copy includes it.
 */

export const RESTORED = "restored";

/** Fence of an open step whose effect definitely did not happen, as determined by a run or an operator. */
export const ABSENT: number = -1;

/** Fence of a step that adopted an effect that may be another step's. Such a step's time is that of the adoption. */
export const PROVISIONAL: number = -2;

/** SQL condition for the steps that a restore deletes. Their effects may have happened in a run after the backup. */
export const FORGET_ABSENT: string = `state = 'open' AND fence = ${ABSENT}`;

export interface RestoreMark {
  /** Time of the restore, in ms since 1970, on the clock of the machine that ran it. */
  readonly at: number;
  /**
   * Time in ms since 1970 on the platform's clock. Events created later were not handled before the restore.
   * `undefined` until a bot has the platform's time or an operator has set one.
   */
  readonly until?: number | undefined;
  /**
   * Time when a bot first read the log to its end after the restore, on the same clock as `at`. That read recovers the
   * events newer than the backup.
   */
  readonly readAt?: number | undefined;
}

export function writeRestoreMark(mark: RestoreMark): string {
  return JSON.stringify(mark);
}

/** @param position the cursor's position, or `undefined` if the inbox was never restored */
export function readRestoreMark(position: string | undefined): RestoreMark | undefined {
  if (position === undefined) return undefined;
  const mark: RestoreMark = JSON.parse(position);
  return mark;
}
