import { type ReadonlySignal, signal } from "@preact/signals";

let timer: ReturnType<typeof setInterval> | undefined;

const shown = signal(Date.now(), {
  watched() {
    shown.value = Date.now();
    // Oftener than once a second, so that none is left out.
    timer = setInterval(() => {
      shown.value = Date.now();
    }, 250);
  },
  unwatched() {
    clearInterval(timer);
  },
});

/** The time of this browser, in milliseconds since 1970; moves while somebody looks at it. Nothing is asked for it. */
export const ticking: ReadonlySignal<number> = shown;
