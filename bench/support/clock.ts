/** Milliseconds on CLOCK_MONOTONIC, with digits down to about 1 µs. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A process that tells its `monotonicNow`. */
interface Timed {
  call(name: "now"): Promise<number>;
}

/**
 * Times of two processes can be subtracted where the machine has one such clock for all of them, as Linux has.
 *
 * @throws {Error} a process has another one
 */
export async function requireOneClock(processes: readonly Timed[]): Promise<void> {
  for (const process of processes) {
    const before = monotonicNow();
    const there = await process.call("now");
    const after = monotonicNow();
    if (before <= there && there <= after) continue;
    throw new Error(
      `process.hrtime of two processes disagrees (${there} is not from ${before} to ${after}), so no time from one ` +
        "to the other can be measured here: run this benchmark on Linux, outside of sandboxes that move the clock",
    );
  }
}
