/** A promise that records whether it was awaited. */
class WatchedPromise<T> extends Promise<T> {
  // `then` returns an ordinary promise.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  isAwaited = false;

  // `await` resolves a subclass of Promise through `then`.
  // biome-ignore lint/suspicious/noThenProperty: overriding it is the point.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isAwaited = true;
    return super.then(onFulfilled, onRejected);
  }
}

/**
 * Replies and steps that a handler has started. A forgotten `await` must not end the run before them, hide their
 * failure, or end the process by an unhandled rejection.
 */
export class PendingTasks {
  readonly #promises: WatchedPromise<unknown>[] = [];

  /** Starts a task that belongs to the run. */
  start<T>(work: () => Promise<T>): Promise<T> {
    const promise = new WatchedPromise<T>((resolve) => resolve(work()));
    // A rejection is no unhandled one.
    void settled(promise);
    this.#promises.push(promise);
    return promise;
  }

  /** Runs `work`, and waits for the tasks that it started, even if it fails. */
  async run(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.drain().catch(() => undefined);
      throw error;
    }
    await this.drain();
  }

  /** Waits for all tasks. Rejects with the failure of one that was not awaited. */
  async drain(): Promise<void> {
    // Tasks may start further ones, which the loop reaches, too.
    for (const promise of this.#promises) await settled(promise);
    for (const promise of this.#promises) if (!promise.isAwaited) await promise;
  }
}

/** Resolves when the promise has settled. Bypasses the `then` above, because this does not count as waiting. */
function settled(promise: Promise<unknown>): Promise<unknown> {
  const ignore = () => undefined;
  return Promise.prototype.then.call(promise, ignore, ignore);
}
