export interface ReadOutcome<T> {
  readonly data?: T;
  readonly error: Error | undefined;
}

interface PendingRead {
  /** True if the data changed during the read. */
  again: boolean;
  done: Promise<void>;
}

/** Runs one read at a time. Requests during a read cause one more read afterwards. */
export class Reader<T> {
  readonly #read: () => Promise<T>;
  readonly #show: (outcome: ReadOutcome<T>) => void;
  #pending: PendingRead | undefined;

  constructor(read: () => Promise<T>, show: (outcome: ReadOutcome<T>) => void) {
    this.#read = read;
    this.#show = show;
  }

  reload(): Promise<void> {
    if (this.#pending !== undefined) {
      // Wait for the current read instead of cancelling it, because under constant change no read would ever finish.
      this.#pending.again = true;
      return this.#pending.done;
    }
    const mine: PendingRead = { again: false, done: Promise.resolve() };
    this.#pending = mine;
    mine.done = this.#readOn(mine);
    return mine.done;
  }

  /** Discards the result of the current read. */
  cancel(): void {
    this.#pending = undefined;
  }

  async #readOn(mine: PendingRead): Promise<void> {
    do {
      mine.again = false;
      const outcome = await outcomeOf(this.#read);
      if (this.#pending !== mine) return;
      this.#show(outcome);
    } while (mine.again);
    this.#pending = undefined;
  }
}

async function outcomeOf<T>(read: () => Promise<T>): Promise<ReadOutcome<T>> {
  try {
    return { data: await read(), error: undefined };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
