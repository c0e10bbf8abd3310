/** Returns a nearest-rank percentile. A share of 0.99 is the 99th percentile. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}
