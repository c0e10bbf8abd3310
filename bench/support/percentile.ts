/** The value that a share of them does not exceed (nearest rank): of 0.99, the 99th percentile. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}
