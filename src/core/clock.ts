/** Source of the time. An ordinary option everywhere, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds, unless the returned function is called before. */
  timer(ms: number, fn: () => void, options?: TimerOptions): () => void;
}

/** How a timer behaves. */
export interface TimerOptions {
  /** True for upkeep: it does not keep the process alive, and need not fire for every time it missed. */
  readonly background?: boolean;
}

/** The longest delay that Node's timers take; longer ones would fire at once. */
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
 * A clock that begins with the system's time and is not moved when that is set: leases, waits and
 * deadlines are spans, and a correction of the time must neither end them all nor stop them for an hour.
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

/** Does `work` every `ms` milliseconds until `signal` aborts. What it rejects with ends that. */
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
