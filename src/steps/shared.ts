/** So many calls are remembered; of one that is forgotten, the end is waited for. */
const MOST_ENDS = 10_000;

/**
 * What the runs of one dispatcher share in memory. It is gone with the process, which does no harm:
 * nothing of that process is sent any more then, and what was answered is merely waited for.
 */
export class Shared {
  readonly #tails = new Map<string, Promise<void>>();
  readonly #ends = new Map<string, number>();

  /**
   * Runs `work` while nobody else does anything at this place; without a place at once. Nobody may wait
   * for a place while holding one.
   */
  async alone<T>(place: string | undefined, work: () => Promise<T>): Promise<T> {
    if (place === undefined) return await work();
    const before = this.#tails.get(place);
    const mine = Promise.withResolvers<void>();
    const tail = Promise.all([before, mine.promise]).then(() => {
      if (this.#tails.get(place) === tail) this.#tails.delete(place);
    });
    this.#tails.set(place, tail);
    try {
      await before;
      return await work();
    } finally {
      mine.resolve();
    }
  }

  /** Remembers when the call of a step is over, in milliseconds on our clock; -Infinity: it is. */
  rememberEnd(event: string, step: string, end: number): void {
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined && this.#ends.size >= MOST_ENDS) this.#ends.delete(oldest);
    this.#ends.set(keyOf(event, step), end);
  }

  /** Before it is called again. */
  forgetEnd(event: string, step: string): void {
    this.#ends.delete(keyOf(event, step));
  }

  /** Infinity where nothing is known. */
  endOf(event: string, step: string): number {
    return this.#ends.get(keyOf(event, step)) ?? Number.POSITIVE_INFINITY;
  }
}

function keyOf(event: string, step: string): string {
  return JSON.stringify([event, step]);
}
