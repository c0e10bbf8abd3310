import { type ReadonlySignal, signal } from "@preact/signals";

/** Returns the browser's time in ms since 1970, updated every `intervalMs` while a component uses it. */
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

/** For a clock with seconds. Updated more often, so that no second is skipped. */
export const ticking: ReadonlySignal<number> = ticker(250);

/** For relative times. Slower because the page may have hundreds of them. */
export const passing: ReadonlySignal<number> = ticker(5_000);

/** In ms. Difference of the platform's clock to this browser's. */
export const clockOffset = signal(0);

/**
 * In ms. Difference of the machine's clock to this browser's. Timers, crons and states of a bot use the machine's
 * clock.
 */
export const machineOffset = signal(0);
