/**
 * What an inbox that came from a backup knows of that. A process may have done things after the backup was taken,
 * and then they are missing here: events are pending that it has handled, and steps look new that it has made.
 *
 * The mark has its place among the cursors, so that it is in every inbox from the first version on, and is copied
 * along with it.
 */

/** The name of the mark among the cursors. */
export const RESTORED = "restored";

/** Fence of an open step whose effect is known not to have happened: a run or a person has found that out. */
export const ABSENT: number = -1;

/**
 * Which steps a restore forgets. That they had come to nothing was known when the backup was taken, and a later run may
 * have made them since: they are new again, and in doubt. What they were to do then says nothing about that run.
 */
export const FORGET_ABSENT: string = `state = 'open' AND fence = ${ABSENT}`;

export interface RestoreMark {
  /** When it was restored, in milliseconds since 1970 on the clock of the machine where that was done. */
  readonly at: number;
  /**
   * What was made after this cannot have been handled before the restore. In milliseconds since 1970 on the platform's
   * clock; undefined until a bot has learned its time, or somebody has said it.
   */
  readonly until?: number | undefined;
  /** When the log was read to its end for the first time since; the same clock as `at`. */
  readonly readAt?: number | undefined;
  /** When the last event was done that may have been handled before. */
  readonly overAt?: number | undefined;
  /** What cannot be told is taken for not done, and runs again, instead of waiting for a person. */
  readonly assumeAbsent: boolean;
}

export function writeRestoreMark(mark: RestoreMark): string {
  return JSON.stringify(mark);
}

/** @param position where the cursor of that name is; undefined: this inbox was never restored */
export function readRestoreMark(position: string | undefined): RestoreMark | undefined {
  if (position === undefined) return undefined;
  const mark: RestoreMark = JSON.parse(position);
  return mark;
}
