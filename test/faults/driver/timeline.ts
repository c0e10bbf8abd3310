import type { EntryOf, Platform, TimelineRecord } from "../../faces/platform.ts";

/** Waits until the condition holds. Checks it after each entry of the timeline. Resolves to false on timeout. */
export async function until(
  platform: Platform,
  holds: () => boolean,
  timeoutMs: number,
): Promise<boolean> {
  if (holds()) return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), timeoutMs);
  const ignore = platform.onTimeline(() => {
    if (holds()) resolve(true);
  });
  return await promise.finally(() => {
    clearTimeout(timer);
    ignore();
  });
}

/** Counts the matching entries of the timeline from now on. */
export class Tally<K extends TimelineRecord["kind"]> {
  count = 0;
  readonly #platform: Platform;

  constructor(platform: Platform, kind: K, fits: (entry: EntryOf<K>) => boolean) {
    this.#platform = platform;
    platform.onTimeline((entry) => {
      if (entry.kind === kind && fits(entry as EntryOf<K>)) this.count += 1;
    });
  }

  /** Resolves to false on timeout. */
  async reaches(count: number, timeoutMs: number): Promise<boolean> {
    return await until(this.#platform, () => this.count >= count, timeoutMs);
  }
}
