import { type RunOutcome, subscribe } from "../observe/channels.ts";

/** A run of a handler that failed. */
export interface FailedRun {
  /** Id of the event. */
  readonly event: string;
  readonly type: string;
  /** Number of the run, from 1 up. */
  readonly attempt: number;
  /** `retry` and `release`: it runs again later. `dead`: it was the last run. */
  readonly outcome: RunOutcome;
  /** The error, as the handler threw it. */
  readonly error: unknown;
}

/** The bot's side of {@link Failures}. */
export interface ObservableBot {
  /** Registers an observer of the errors of handlers. */
  onError(
    observer: (
      error: unknown,
      context: { readonly event: { readonly id: string }; readonly attempt: number },
    ) => unknown,
  ): unknown;
}

/** The failed runs of a bot. */
export class Failures {
  readonly all: FailedRun[] = [];
  /** Errors that handlers threw, until their outcome is stored. */
  readonly #thrown = new Map<string, unknown>();
  /** For each work under way: the last error of each event that has failed meanwhile, and was not handled afterwards. */
  readonly #watches = new Set<Map<string, unknown>>();
  readonly #unsubscribe: () => void;

  constructor(bot: ObservableBot) {
    bot.onError((error, { event, attempt }) => {
      this.#thrown.set(`${event.id} ${attempt}`, error);
    });
    this.#unsubscribe = subscribe(bot, {
      run: ({ event, type, attempt, outcome, error: shown }) => {
        if (outcome === "done") for (const unhandled of this.#watches) unhandled.delete(event);
        if (shown === undefined) return;
        const key = `${event} ${attempt}`;
        // No observer sees an event that cannot be read, so its error is as the log has it.
        const error = this.#thrown.has(key)
          ? this.#thrown.get(key)
          : Object.assign(new Error(), shown);
        this.#thrown.delete(key);
        this.all.push({ event, type, attempt, outcome, error });
        for (const unhandled of this.#watches) unhandled.set(event, error);
      },
    });
  }

  /**
   * Does work.
   *
   * @throws the error of the event that failed meanwhile and was not handled afterwards; an AggregateError of several
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const unhandled = new Map<string, unknown>();
    this.#watches.add(unhandled);
    const result = await work().finally(() => this.#watches.delete(unhandled));
    const errors = [...unhandled.values()];
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} events failed.`);
    if (errors.length > 0) throw errors[0];
    return result;
  }

  end(): void {
    this.#unsubscribe();
  }
}
