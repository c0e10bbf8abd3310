interface Waiting<In, Out> {
  readonly input: In;
  readonly resolve: (output: Out) => void;
  readonly reject: (error: unknown) => void;
}

/** One round is at work in the database while the outcomes of the other are at work here. */
const ROUNDS = 2;

/**
 * Gathers what is asked for in one turn of the event loop, and while earlier rounds are under way, so that
 * many calls share one statement and one commit.
 */
export class Gather<In, Out> {
  readonly #run: (inputs: readonly In[]) => Promise<readonly Out[]>;
  readonly #most: number;
  #waiting: Waiting<In, Out>[] = [];
  #running = 0;
  #scheduled = false;

  /**
   * @param run gives one output for each input, in their order
   * @param most how many inputs a round has at most
   */
  constructor(run: (inputs: readonly In[]) => Promise<readonly Out[]>, most: number) {
    this.#run = run;
    this.#most = most;
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
    const round = this.#waiting.splice(0, this.#most);
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
