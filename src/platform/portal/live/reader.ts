export interface ReadOutcome<T> {
  readonly data?: T;
  readonly error: Error | undefined;
}

interface Flight {
  /** True if the data changed meanwhile, so that another read follows. */
  again: boolean;
  done: Promise<void>;
}

/** Reads on demand, one read at a time. Demands during a read cause one more read after it. */
export class Reader<T> {
  readonly #read: () => Promise<T>;
  readonly #show: (outcome: ReadOutcome<T>) => void;
  #flight: Flight | undefined;

  constructor(read: () => Promise<T>, show: (outcome: ReadOutcome<T>) => void) {
    this.#read = read;
    this.#show = show;
  }

  reload(): Promise<void> {
    if (this.#flight !== undefined) {
      // Waits for the current read instead of cancelling it. Under constant change, no read would otherwise finish.
      this.#flight.again = true;
      return this.#flight.done;
    }
    const mine: Flight = { again: false, done: Promise.resolve() };
    this.#flight = mine;
    mine.done = this.#readOn(mine);
    return mine.done;
  }

  /** Discards the result of the current read. */
  cancel(): void {
    this.#flight = undefined;
  }

  async #readOn(mine: Flight): Promise<void> {
    do {
      mine.again = false;
      const outcome = await outcomeOf(this.#read);
      if (this.#flight !== mine) return;
      this.#show(outcome);
    } while (mine.again);
    this.#flight = undefined;
  }
}

async function outcomeOf<T>(read: () => Promise<T>): Promise<ReadOutcome<T>> {
  try {
    return { data: await read(), error: undefined };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
