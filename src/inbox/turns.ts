import { sleep, systemClock } from "../core/clock.ts";

/**
 * Short transactions one after the other, with as long a pause before each as the one before has taken. Whoever waits for a
 * file's lock asks for it now and then, and would find it taken again each time.
 */
export class Turns {
  #pauseMs = 0;

  /** @param signal ends the pause, not the work */
  async take<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#pauseMs > 0) await sleep(systemClock, this.#pauseMs, signal);
    const began = performance.now();
    try {
      return await work();
    } finally {
      this.#pauseMs = performance.now() - began;
    }
  }
}
