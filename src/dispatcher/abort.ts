/**
 * Ends a run from outside. Its signal is made when somebody asks for it: most runs end before anybody does, and a
 * signal costs more than all else about a short one.
 */
export class Abort {
  #controller: AbortController | undefined;
  #over: { readonly reason: unknown } | undefined;
  #reject: (reason: unknown) => void = () => undefined;

  get aborted(): boolean {
    return this.#over !== undefined;
  }

  /** What it was aborted with. */
  get reason(): unknown {
    return this.#over?.reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over !== undefined) this.#controller.abort(this.#over.reason);
    return this.#controller.signal;
  }

  /** The first reason holds. */
  abort(reason: unknown): void {
    if (this.#over !== undefined) return;
    this.#over = { reason };
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  /** Settles as `work` does, or rejects with the reason when it is aborted before. For one work only. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#over !== undefined) reject(this.#over.reason);
      work.then(resolve, reject);
    });
  }
}
