/** Converts a count within `ms` milliseconds to a rate per second. */
export function perSecond(count: number, ms: number): number {
  return count / (ms / 1000);
}
