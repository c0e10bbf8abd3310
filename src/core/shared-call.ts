export interface SharedCallOptions {
  /** How long a result is kept, in ms. Default 0: only callers that come during the call share it. */
  readonly keepMs?: number;
  /** The clock for `keepMs`, in ms. The system's time by default. */
  readonly now?: () => number;
}

/** Runs one call at a time, however many ask, and keeps its result for a moment. */
export class SharedCall<T> {
  readonly #call: () => Promise<T>;
  readonly #keepMs: number;
  readonly #now: () => number;
  #running: Promise<T> | undefined;
  #kept: { readonly result: T; readonly at: number } | undefined;

  constructor(
    call: () => Promise<T>,
    { keepMs = 0, now = () => Date.now() }: SharedCallOptions = {},
  ) {
    this.#call = call;
    this.#keepMs = keepMs;
    this.#now = now;
  }

  /** Resolves with a result that is `keepMs` old at most. A failure is not kept. */
  async get(): Promise<T> {
    const kept = this.#kept;
    // A clock that was set back makes no result younger.
    if (kept !== undefined && Math.abs(this.#now() - kept.at) < this.#keepMs) return kept.result;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return await this.#running;
  }

  async #run(): Promise<T> {
    const result = await this.#call();
    if (this.#keepMs > 0) this.#kept = { result, at: this.#now() };
    return result;
  }
}
