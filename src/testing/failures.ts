import { type RunOutcome, subscribe } from "../observe/channels.ts";

/** A failed run of an event's handlers. */
export interface FailedRun {
  /** Id of the event. */
  readonly event: string;
  /** Type of the event. */
  readonly type: string;
  /** Number of the run, starting at 1. */
  readonly attempt: number;
  /** `retry` and `release`: a later run follows. `dead`: this was the last run. */
  readonly outcome: RunOutcome;
  /** The error that the handler threw. */
  readonly error: unknown;
}

export interface ObservableBot {
  /** Registers an observer for errors that handlers throw. */
  onError(
    observer: (
      error: unknown,
      context: { readonly event: { readonly id: string }; readonly attempt: number },
    ) => unknown,
  ): unknown;
}

export class Failures {
  readonly all: FailedRun[] = [];
  /** Errors of runs whose outcome is not stored yet. */
  readonly #thrown = new Map<string, unknown>();
  /** For each call of `during`, the errors of events that failed and have not succeeded since. */
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
        // Observers are not called for an event that cannot be read, so use the error from the log.
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
   * @throws the error of an event that failed during `work` and did not succeed later, or an AggregateError of several
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
