import { continuing, duringWait } from "../core/loop-watch.ts";
import { isError, tryRead } from "../errors.ts";

/** A promise for a handler, which times the handler's code after it. */
class HandlerPromise<T> extends Promise<T> {
  // `then` must return an ordinary promise.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // `await` calls `then` on a subclass of Promise.
  // biome-ignore lint/suspicious/noThenProperty: overriding it is the point.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return super.then(onFulfilled && continuing(onFulfilled), onRejected && continuing(onRejected));
  }
}

/** Calls a function of the context for which the handler waits. */
export function contextCall<T>(work: () => Promise<T>): Promise<T> {
  const caller: { stack?: string } = {};
  Error.captureStackTrace(caller, contextCall);
  const waited = () => duringWait(work);
  return new HandlerPromise<T>((resolve) => resolve(withCaller(waited, caller)));
}

/** A promise that records whether it was awaited. */
class WatchedPromise<T> extends HandlerPromise<T> {
  isAwaited = false;

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
 * Replies and steps started by a handler. A handler may forget an `await`. The run still waits for the task, reports
 * its failure, and avoids an unhandled rejection.
 */
export class PendingTasks {
  readonly #promises: WatchedPromise<unknown>[] = [];

  start<T>(work: () => Promise<T>): Promise<T> {
    const caller: { stack?: string } = {};
    // Without this method and its override.
    Error.captureStackTrace(caller, this.start);
    const promise = new WatchedPromise<T>((resolve) => resolve(withCaller(work, caller)));
    // Mark the rejection as handled, because `drain` reports it later.
    void settled(promise);
    this.#promises.push(promise);
    return promise;
  }

  /** Runs `work`, then waits for the tasks that it started, even if it failed. */
  async run(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.drain().catch(() => undefined);
      throw error;
    }
    if (this.#promises.length > 0) await this.drain();
  }

  /** Waits for all tasks. Rejects if a task that the handler did not await has failed. */
  async drain(): Promise<void> {
    // A task may start more tasks, which this loop also reaches.
    for (const promise of this.#promises) await settled(promise);
    for (const promise of this.#promises) if (!promise.isAwaited) await promise;
  }
}

/** Calls of a handler to its context, for which the handler waits. */
export class ContextTasks extends PendingTasks {
  override start<T>(work: () => Promise<T>): Promise<T> {
    return super.start(() => duringWait(work));
  }
}

/** Errors that already include their caller's frames. A handler may throw the same error many times. */
const completed = new WeakSet<Error>();

/** Adds the caller's frames to an error thrown by `work`, because an async stack ends before the handler's own line. */
async function withCaller<T>(work: () => Promise<T>, caller: { stack?: string }): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isError(error) && !completed.has(error)) {
      completed.add(error);
      // A frozen or unreadable error stays unchanged.
      tryRead(() => addFrames(error, caller));
    }
    throw error;
  }
}

function addFrames(error: Error, caller: { readonly stack?: string }): void {
  const { stack } = error;
  // An application may replace stacks with objects.
  if (typeof stack !== "string") return;
  // Read the caller's stack only now, because formatting it is slow.
  const frames = caller.stack?.replace(/^.*\n/, "\n") ?? "";
  Reflect.set(error, "stack", stack + frames);
}

/** Resolves when the promise has settled. Bypasses the `then` above, because this wait does not count as an `await`. */
function settled(promise: Promise<unknown>): Promise<unknown> {
  const ignore = () => undefined;
  return Promise.prototype.then.call(promise, ignore, ignore);
}
