/** A promise that knows whether anybody has waited for it. */
class Watched<T> extends Promise<T> {
  // What `then` makes is an ordinary promise.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  awaited = false;

  // `await` calls this as well: the promise is not a plain one, so it is resolved through `then`.
  // biome-ignore lint/suspicious/noThenProperty: overriding it is the point.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.awaited = true;
    return super.then(onFulfilled, onRejected);
  }
}

/**
 * What a handler has begun: replies and steps. A forgotten `await` must not end the run before they
 * are done, hide their failure, or take the process down as an unhandled rejection.
 */
export class PendingTasks {
  readonly #promises: Watched<unknown>[] = [];

  /** Begins something that belongs to the run. */
  start<T>(work: () => Promise<T>): Promise<T> {
    const promise = new Watched<T>((resolve) => resolve(work()));
    // Past the `then` above, so that this does not count as waiting.
    Promise.prototype.then.call(promise, undefined, () => undefined);
    this.#promises.push(promise);
    return promise;
  }

  /** Runs `work`, and lets what it has begun settle before this does, however `work` ends. */
  async run(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.drain().catch(() => undefined);
      throw error;
    }
    await this.drain();
  }

  /** Settles when everything has; rejects with a failure that nobody has waited for. */
  async drain(): Promise<void> {
    // More may be begun while this waits.
    for (let index = 0; index < this.#promises.length; index++) {
      await quietly(this.#promises[index]);
    }
    for (const promise of this.#promises) if (!promise.awaited) await promise;
  }
}

function quietly(promise: Promise<unknown> | undefined): Promise<unknown> {
  const settled = Promise.withResolvers<void>();
  const done = () => settled.resolve();
  if (promise === undefined) done();
  else Promise.prototype.then.call(promise, done, done);
  return settled.promise;
}
