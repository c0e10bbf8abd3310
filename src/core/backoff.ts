/** How long to wait before a further try. All times in milliseconds. */
export interface BackoffOptions {
  /** Upper bound of the first wait. */
  readonly baseMs: number;
  /** No wait is longer than this. */
  readonly maxMs: number;
  /** Growth of the upper bound from one try to the next. */
  readonly factor: number;
}

/** A random number in [0, 1), as `Math.random` gives; an ordinary option, for repeatable tests. */
export type Random = () => number;

/**
 * Exponential backoff with full jitter: anything between 0 and `base * factor^(attempt - 1)`, capped.
 * Full jitter spreads the tries of many lanes that failed at the same moment.
 *
 * @param attempt the number of tries made so far, from 1 up
 * @returns whole milliseconds
 */
export function backoff(
  options: BackoffOptions,
  attempt: number,
  random: Random = Math.random,
): number {
  // After a thousand tries the power is infinite, and a base of 0 times that is not a number.
  const growth = Math.min(options.factor ** Math.max(attempt - 1, 0), Number.MAX_VALUE);
  const bound = options.baseMs * growth;
  return Math.floor(Math.min(bound, options.maxMs) * random());
}
