/** Returns the time on CLOCK_MONOTONIC in ms, accurate to about 1 µs. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

interface Timed {
  call(name: "now"): Promise<number>;
}

/**
 * Checks that times from different processes can be subtracted. All processes must share a monotonic clock, as on
 * Linux.
 *
 * @throws {Error} if a process uses a different clock
 */
export async function requireOneClock(processes: readonly Timed[]): Promise<void> {
  for (const process of processes) {
    const before = monotonicNow();
    const there = await process.call("now");
    const after = monotonicNow();
    if (before <= there && there <= after) continue;
    throw new Error(
      `process.hrtime differs between processes (${there} is not between ${before} and ${after}), so their times ` +
        "cannot be compared. Run this benchmark on Linux, outside sandboxes that change the clock.",
    );
  }
}
