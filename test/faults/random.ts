import { mulberry32 } from "../support/mulberry32.ts";

export class Random {
  /** Returns a number in [0, 1), like `Math.random`. */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = mulberry32(seed);
  }

  /** Returns an integer in [0, `end`). */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** @param share a probability between 0 and 1 */
  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)];
    if (chosen === undefined) throw new Error("cannot pick from an empty list");
    return chosen;
  }

  shuffle(list: Uint32Array): void {
    for (let last = list.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      const kept = list[last] ?? 0;
      list[last] = list[other] ?? 0;
      list[other] = kept;
    }
  }
}

/** Returns the SEED environment variable, which reproduces a failure, or else a new seed. */
export function chooseSeed(given: string | undefined = process.env.SEED): number {
  if (given === undefined || given === "") return Math.floor(Math.random() * 2 ** 31);
  if (!/^\d{1,10}$/.test(given))
    throw new Error(`the seed must be a whole number (got "${given}")`);
  return Number(given);
}
