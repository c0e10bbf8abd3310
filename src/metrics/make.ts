import { Counter, Gauge, Histogram, type Registry } from "./prom.ts";

/** The values that each label can have. */
type Values<L extends string> = { readonly [K in L]: readonly string[] };

/**
 * A counter whose series are there from the start: one that comes with its first event has not grown by it, and no
 * alert would see that event.
 */
export function counter<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  values: Values<L>,
): Counter<L> {
  const labelNames = Object.keys(values) as L[];
  const made = new Counter<L>({ name, help, labelNames, registers: [registry] });
  for (const labels of combinations(values)) made.inc(labels, 0);
  return made;
}

export function gauge<L extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[] = [],
): Gauge<L> {
  return new Gauge<L>({ name, help, labelNames, registers: [registry] });
}

/** @param buckets in seconds */
export function histogram<L extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  buckets: readonly number[],
  labelNames: readonly L[] = [],
): Histogram<L> {
  return new Histogram<L>({ name, help, labelNames, buckets: [...buckets], registers: [registry] });
}

/** From one write to a disk up to what a sender waits for, in seconds. */
export const STORE_BUCKETS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

function combinations<L extends string>(values: Values<L>): Record<L, string>[] {
  const entries: [string, readonly string[]][] = Object.entries(values);
  return entries.reduce<Record<string, string>[]>(
    (all, [name, options]) =>
      all.flatMap((labels) => options.map((value) => ({ ...labels, [name]: value }))),
    [{}],
  );
}
