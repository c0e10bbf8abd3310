/** How many of `count` that took `ms` milliseconds fall on a second. */
export function perSecond(count: number, ms: number): number {
  return count / (ms / 1000);
}
