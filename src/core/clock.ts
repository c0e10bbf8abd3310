/** Source of time, injectable so that tests need not wait. */
export interface Clock {
  /** Returns ms since 1970, UTC. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds unless the returned function is called first. */
  timer(ms: number, fn: () => void, options?: TimerOptions): () => void;
}

/** Options for a timer. */
export interface TimerOptions {
  /** True for background work. The timer does not keep the process alive, and may skip ticks that it missed. */
  readonly background?: boolean;
}

/** Node's longest timer delay, in ms. A timer with a longer delay fires at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  timer(ms, fn, { background = false } = {}) {
    const handle = setTimeout(fn, Math.min(Math.max(ms, 0), MAX_TIMER_MS));
    if (background) handle.unref();
    return () => clearTimeout(handle);
  },
};

/**
 * Creates a clock that starts at the system time and ignores later corrections. Otherwise a correction could expire
 * every lease and deadline at once, or freeze them for an hour.
 */
export function steadyClock(
  wall: () => number = Date.now,
  elapsed: () => number = () => performance.now(),
): Clock {
  const began = wall() - elapsed();
  return { now: () => Math.round(began + elapsed()), timer: systemClock.timer };
}

/** Resolves after `ms` milliseconds or when `signal` aborts. Never rejects. */
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

/** Repeats `work`, with `ms` milliseconds between calls, until `signal` aborts or `work` rejects. */
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

/** Exponential backoff. Waits are in ms. */
export interface BackoffOptions {
  /** Upper bound of the first wait. */
  readonly baseMs: number;
  /** Upper bound of every wait. */
  readonly maxMs: number;
  /** Factor by which the upper bound grows with each attempt. */
  readonly factor: number;
}

/** Returns a number in [0, 1), like `Math.random`. Injectable for repeatable tests. */
export type Random = () => number;

/**
 * Returns an exponential backoff with full jitter: a random wait of up to `baseMs * factor^(attempt - 1)`, capped at
 * `maxMs`. Full jitter spreads the retries of lanes that failed at the same time.
 *
 * @param attempt the number of attempts made so far, starting at 1
 * @returns whole milliseconds
 */
export function backoff(
  options: BackoffOptions,
  attempt: number,
  random: Random = Math.random,
): number {
  // After about a thousand attempts the power is infinite, and 0 times infinity is NaN.
  const growth = Math.min(options.factor ** Math.max(attempt - 1, 0), Number.MAX_VALUE);
  const bound = options.baseMs * growth;
  return Math.floor(Math.min(bound, options.maxMs) * random());
}

export interface Patience {
  readonly clock: Clock;
  /** Ends the current wait. One more attempt follows. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of attempts. Read again after each attempt, because stopping the bot may lower it. */
  tries(): number;
  failed(error: unknown): void;
  /** Returns whether another attempt could not succeed. Default: never. */
  isFinal?(error: unknown): boolean;
}

/**
 * Maximum number of attempts to record an outcome. They take about a minute, so that the outcome survives a briefly
 * full disk.
 */
export const WRITE_ATTEMPTS = 20;

const WRITE_BACKOFF: BackoffOptions = { baseMs: 100, maxMs: 5_000, factor: 3 };

export async function persist<T>(write: () => Promise<T>, patience: Patience): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (patience.isFinal?.(error)) throw error;
      patience.failed(error);
      if (attempt >= patience.tries()) throw error;
      await sleep(patience.clock, backoff(WRITE_BACKOFF, attempt), patience.signal);
    }
  }
}
