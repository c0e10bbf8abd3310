export interface SharedCallOptions {
  /**
   * How long a result is shared, in ms. With the default, 0, only callers that arrive during the call share its result.
   */
  readonly keepMs?: number;
  /** Returns the current time, in ms. Default: the system time. */
  readonly now?: () => number;
}

/** Shares one call among concurrent callers, and keeps its result for a short time. */
export class SharedCall<T> {
  readonly #call: () => Promise<T>;
  readonly #keepMs: number;
  readonly #now: () => number;
  #running: Promise<T> | undefined;
  #cached: { readonly result: T; readonly at: number } | undefined;

  constructor(
    call: () => Promise<T>,
    { keepMs = 0, now = () => Date.now() }: SharedCallOptions = {},
  ) {
    this.#call = call;
    this.#keepMs = keepMs;
    this.#now = now;
  }

  /** Resolves to a result at most `keepMs` old. Failures are not kept. */
  async get(): Promise<T> {
    const kept = this.#cached;
    // Compare the absolute difference, because a clock that was set back would otherwise keep the result too long.
    if (kept !== undefined && Math.abs(this.#now() - kept.at) < this.#keepMs) return kept.result;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return await this.#running;
  }

  async #run(): Promise<T> {
    const result = await this.#call();
    if (this.#keepMs > 0) this.#cached = { result, at: this.#now() };
    return result;
  }
}
