/** The middle of some measurements; 0 without any. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** What a scenario tells about the time from the start of a bot until it was ready. */
export function readyFigures(values: readonly number[]): Record<string, number> {
  return {
    "ready again, median (ms)": Math.round(median(values)),
    "ready again, worst (ms)": Math.round(Math.max(0, ...values)),
  };
}

/** A plan with a share of each of its numbers, 1 at least. */
export function scaled<T extends Readonly<Record<string, number>>>(plan: T, scale = 1): T {
  const entries = Object.entries(plan).map(([name, n]) => [
    name,
    Math.max(1, Math.round(n * scale)),
  ]);
  return Object.fromEntries(entries) as T;
}

export function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}
