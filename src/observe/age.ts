/**
 * Returns how long ago a time was, in ms. 0 after the clock was set back. `undefined` if there is no time.
 *
 * @param at the present, on the same clock
 */
export function ageAt(at: number, time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.max(0, at - time);
}
