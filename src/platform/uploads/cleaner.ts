import type { Clock } from "../../core/clock.ts";
import type { Images } from "../store/images.ts";

/** Removes uploads that nobody attached within their hour (section 3). */
export class Cleaner {
  readonly #images: Images;
  readonly #clock: Clock;
  #cancel: () => void = () => {};

  constructor(images: Images, clock: Clock) {
    this.#images = images;
    this.#clock = clock;
  }

  /** Removes what is due, and comes back when the next one is. */
  wake(): void {
    this.stop();
    const now = this.#clock.now();
    this.#images.clean(now);
    const next = this.#images.nextExpiry();
    if (next === undefined) return;
    this.#cancel = this.#clock.timer(next - now, () => this.wake(), { background: true });
  }

  stop(): void {
    this.#cancel();
  }
}
