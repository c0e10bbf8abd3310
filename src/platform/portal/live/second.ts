import { type ReadonlySignal, signal } from "@preact/signals";

/** Returns the browser's time in ms since 1970, updated while a component uses it. */
function ticker(intervalMs: number): ReadonlySignal<number> {
  let timer: ReturnType<typeof setInterval> | undefined;
  const now = signal(Date.now(), {
    watched() {
      now.value = Date.now();
      timer = setInterval(() => {
        now.value = Date.now();
      }, intervalMs);
    },
    unwatched() {
      clearInterval(timer);
    },
  });
  return now;
}

/** The current time, for a clock with seconds. Updated several times per second, so that no second is skipped. */
export const ticking: ReadonlySignal<number> = ticker(250);

/** The current time, for relative times. Updated less often, because the page may show hundreds of them. */
export const passing: ReadonlySignal<number> = ticker(5_000);

/** Difference between the platform's clock and the browser's, in ms. */
export const clockOffset = signal(0);

/**
 * Difference between the machine's clock and the browser's, in ms. A bot's timers, crons and states use the machine's
 * clock.
 */
export const machineOffset = signal(0);
