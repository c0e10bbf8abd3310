/** Returns the time on CLOCK_MONOTONIC in ms, accurate to about 1 µs. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A process that reports its `monotonicNow`. */
interface Timed {
  call(name: "now"): Promise<number>;
}

/**
 * Checks that times from two processes can be subtracted. This requires one monotonic clock for all processes, as on
 * Linux.
 *
 * @throws {Error} if a process has another clock
 */
export async function requireOneClock(processes: readonly Timed[]): Promise<void> {
  for (const process of processes) {
    const before = monotonicNow();
    const there = await process.call("now");
    const after = monotonicNow();
    if (before <= there && there <= after) continue;
    throw new Error(
      `process.hrtime of two processes disagrees (${there} is not from ${before} to ${after}), so no time from one ` +
        "to the other can be measured here: run this benchmark on Linux, outside sandboxes that change the clock",
    );
  }
}
