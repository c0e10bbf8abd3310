import { backoff } from "./backoff.ts";
import { type Clock, sleep } from "./clock.ts";

export interface Patience {
  readonly clock: Clock;
  /** Ends a wait between two tries; there is one more then. */
  readonly signal?: AbortSignal | undefined;
  /** After this many tries nothing more is tried; asked after each. */
  tries(): number;
  /** Told of each try that failed. */
  failed(error: unknown): void;
}

/**
 * The store gets this many chances to take what a run has brought about, about a minute in all: a disk
 * that is full for a moment must not make what has happened look as if it had not.
 */
export const WRITE_ATTEMPTS = 20;

/** The waits between the tries, in milliseconds. */
const WAITS = { baseMs: 100, maxMs: 5_000, factor: 3 };

/** Writes, with patience. @throws what the last try threw */
export async function persist<T>(write: () => Promise<T>, patience: Patience): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      patience.failed(error);
      if (attempt >= patience.tries()) throw error;
      await sleep(patience.clock, backoff(WAITS, attempt), patience.signal);
    }
  }
}
