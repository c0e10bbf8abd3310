// `Math.min(...list)` puts the list on the stack, which overflows from about 120,000 numbers.

/** Returns the smallest number, or Infinity for an empty list. */
export function minOf(numbers: Iterable<number>): number {
  let min = Number.POSITIVE_INFINITY;
  for (const number of numbers) min = Math.min(min, number);
  return min;
}

/** Returns the largest number, or -Infinity for an empty list. */
export function maxOf(numbers: Iterable<number>): number {
  let max = Number.NEGATIVE_INFINITY;
  for (const number of numbers) max = Math.max(max, number);
  return max;
}
