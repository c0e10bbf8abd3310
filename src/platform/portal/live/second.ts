import { type ReadonlySignal, signal } from "@preact/signals";

/** The time of this browser, in ms since 1970, read anew every `intervalMs` while a component shows it. */
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

/** For a clock of seconds. More than once a second, so that none is left out. */
export const ticking: ReadonlySignal<number> = ticker(250);

/** For relative times, of which hundreds are shown at once. */
export const passing: ReadonlySignal<number> = ticker(5_000);

/** In ms. How far the platform's clock is ahead of this browser's. */
export const clockOffset = signal(0);

/** In ms. How far the machine's clock is ahead of this browser's. Timers, crons and states of a bot go by it. */
export const machineOffset = signal(0);
