interface Waiting<In, Out> {
  readonly input: In;
  readonly resolve: (output: Out) => void;
  readonly reject: (error: unknown) => void;
}

/** Two rounds, so that this process handles the results of one while the other is in the database. */
const ROUNDS = 2;

/**
 * Batches the calls made in one event loop turn or while earlier rounds are running, so that many calls share one
 * statement and one commit.
 */
export class Gather<In, Out> {
  readonly #run: (inputs: readonly In[]) => Promise<readonly Out[]>;
  readonly #max: number;
  #waiting: Waiting<In, Out>[] = [];
  #running = 0;
  #scheduled = false;

  /**
   * @param run returns one output per input, in order
   * @param max maximum number of inputs per round
   */
  constructor(run: (inputs: readonly In[]) => Promise<readonly Out[]>, max: number) {
    this.#run = run;
    this.#max = max;
  }

  add(input: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= ROUNDS) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#round();
    });
  }

  async #round(): Promise<void> {
    const round = this.#waiting.splice(0, this.#max);
    if (round.length === 0) return;
    this.#running += 1;
    if (this.#waiting.length > 0) this.#schedule();
    try {
      const outputs = await this.#run(round.map(({ input }) => input));
      for (const [index, { resolve }] of round.entries()) resolve(outputs[index] as Out);
    } catch (error) {
      for (const { reject } of round) reject(error);
    } finally {
      this.#running -= 1;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }
}
