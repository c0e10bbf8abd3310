/** Calls that are remembered. The end of a forgotten one is waited for. */
const MAX_CALLS = 10_000;

/**
 * Calls of the steps of one process, shared by all its runs. The memory ends with the process, which does no harm:
 * that process sends nothing further, and the next one merely waits for the calls.
 */
export class CallsInFlight {
  readonly #tails = new Map<string, Promise<void>>();
  readonly #ends = new Map<string, number>();

  /** Runs `work` while no other work runs at this place. A caller must not hold one place and wait for another. */
  async alone<T>(place: string, work: () => Promise<T>): Promise<T> {
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

  /** Remembers when the call of a step is over, in ms on the bot's clock. -Infinity if it is over already. */
  rememberEnd(event: string, step: string, end: number): void {
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined && this.#ends.size >= MAX_CALLS) this.#ends.delete(oldest);
    this.#ends.set(keyOf(event, step), end);
  }

  /** Forgets the end of a call that is made again. */
  forgetEnd(event: string, step: string): void {
    this.#ends.delete(keyOf(event, step));
  }

  /** Infinity if unknown. */
  endOf(event: string, step: string): number {
    return this.#ends.get(keyOf(event, step)) ?? Number.POSITIVE_INFINITY;
  }
}

function keyOf(event: string, step: string): string {
  return JSON.stringify([event, step]);
}
