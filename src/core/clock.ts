/** Source of the time. An ordinary option everywhere, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds, unless the returned function is called before. */
  timer(ms: number, fn: () => void, options?: TimerOptions): () => void;
}

export interface TimerOptions {
  /** True for upkeep: such a timer does not keep the process alive, and may skip times that it missed. */
  readonly background?: boolean;
}

/** In ms. The longest delay of Node's timers; longer ones would fire at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  timer(ms, fn, { background = false } = {}) {
    const handle = setTimeout(fn, Math.min(Math.max(ms, 0), MAX_TIMER_MS));
    if (background) handle.unref();
    return () => clearTimeout(handle);
  },
};

/**
 * A clock that begins with the system's time and ignores later corrections of it. Leases, waits and deadlines are spans;
 * a correction must neither end them all nor stop them for an hour.
 */
export function steadyClock(
  wall: () => number = Date.now,
  elapsed: () => number = () => performance.now(),
): Clock {
  const began = wall() - elapsed();
  return { now: () => Math.round(began + elapsed()), timer: systemClock.timer };
}

/** Resolves after `ms` milliseconds, or as soon as `signal` aborts; it never rejects. */
export function sleep(
  clock: Clock,
  ms: number,
  signal?: AbortSignal,
  options?: TimerOptions,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const done = () => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.timer(ms, done, options);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** Does `work` every `ms` milliseconds until `signal` aborts, or `work` rejects. */
export async function every(
  clock: Clock,
  ms: number,
  work: () => Promise<unknown>,
  signal: AbortSignal,
  options?: TimerOptions,
): Promise<void> {
  for (;;) {
    await sleep(clock, ms, signal, options);
    if (signal.aborted) return;
    await work();
  }
}

/** Waits between tries, in milliseconds. */
export interface BackoffOptions {
  /** Upper bound of the first wait. */
  readonly baseMs: number;
  /** No wait is longer than this. */
  readonly maxMs: number;
  /** Growth of the upper bound from one try to the next. */
  readonly factor: number;
}

/** A random number in [0, 1), as `Math.random` returns; an ordinary option, for repeatable tests. */
export type Random = () => number;

/**
 * Exponential backoff with full jitter: anything between 0 and `base * factor^(attempt - 1)`, capped. Full jitter spreads
 * the tries of many lanes that failed at the same moment.
 *
 * @param attempt the number of tries made so far, from 1 up
 * @returns whole milliseconds
 */
export function backoff(
  options: BackoffOptions,
  attempt: number,
  random: Random = Math.random,
): number {
  // After a thousand tries the power is infinite, and a base of 0 times that is not a number.
  const growth = Math.min(options.factor ** Math.max(attempt - 1, 0), Number.MAX_VALUE);
  const bound = options.baseMs * growth;
  return Math.floor(Math.min(bound, options.maxMs) * random());
}

export interface Patience {
  readonly clock: Clock;
  /** Ends a wait between two tries; one more try follows. */
  readonly signal?: AbortSignal | undefined;
  /** Largest number of tries. Read after each, because a stop may lower it. */
  tries(): number;
  /** Called after each try that failed. */
  failed(error: unknown): void;
}

/** Tries for recording an outcome, about a minute in all. A briefly full disk must not lose it. */
export const WRITE_ATTEMPTS = 20;

const WRITE_BACKOFF: BackoffOptions = { baseMs: 100, maxMs: 5_000, factor: 3 };

/**
 * Repeats a write of the store that fails.
 *
 * @throws the error of the last try
 */
export async function persist<T>(write: () => Promise<T>, patience: Patience): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      patience.failed(error);
      if (attempt >= patience.tries()) throw error;
      await sleep(patience.clock, backoff(WRITE_BACKOFF, attempt), patience.signal);
    }
  }
}
