/** So many calls are remembered; of one that is forgotten, the end is waited for. */
const MOST_ANSWERED = 10_000;

/**
 * What the runs of one dispatcher share in memory. It is gone with the process, which does no harm:
 * nothing of that process is sent any more then, and what was answered is merely waited for.
 */
export class Shared {
  readonly #tails = new Map<string, Promise<void>>();
  readonly #answered = new Set<string>();

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

  /** Remembers that the call of a step has been answered: it is not under way any more. */
  rememberAnswer(event: string, step: string): void {
    const [oldest] = this.#answered;
    if (oldest !== undefined && this.#answered.size >= MOST_ANSWERED) this.#answered.delete(oldest);
    this.#answered.add(keyOf(event, step));
  }

  /** Before it is called again. */
  forgetAnswer(event: string, step: string): void {
    this.#answered.delete(keyOf(event, step));
  }

  isAnswered(event: string, step: string): boolean {
    return this.#answered.has(keyOf(event, step));
  }
}

function keyOf(event: string, step: string): string {
  return JSON.stringify([event, step]);
}
