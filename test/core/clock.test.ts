import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { every, sleep, steadyClock, systemClock } from "../faces/core.ts";
import { ManualClock } from "../faces/testing.ts";

describe("the system's clock", () => {
  test("returns the time of this machine", () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  test("fires once, not before the time", async () => {
    const started = performance.now();
    const fn = vi.fn();
    await new Promise<void>((resolve) => {
      systemClock.timer(20, () => {
        fn();
        resolve();
      });
    });
    expect(performance.now() - started).toBeGreaterThanOrEqual(19);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  test("does not fire after it was cancelled", async () => {
    const cancelled = vi.fn();
    systemClock.timer(1, cancelled)();
    await new Promise<void>((resolve) => void systemClock.timer(20, resolve));
    expect(cancelled).not.toHaveBeenCalled();
  });

  test("a time in the past is now, and one beyond what a timer takes is not", async () => {
    const early = vi.fn();
    const cancel = systemClock.timer(2 ** 40, early);
    const forever = systemClock.timer(Infinity, early);
    await new Promise<void>((resolve) => void systemClock.timer(-5, resolve));
    await new Promise<void>((resolve) => void systemClock.timer(5, resolve));
    expect(early).not.toHaveBeenCalled();
    cancel();
    forever();
  });
});

describe("a steady clock", () => {
  test("begins with the system's time, and is not moved when that is set", () => {
    let wall = 1_800_000_000_000;
    let elapsed = 5_000;
    const clock = steadyClock(
      () => wall,
      () => elapsed,
    );
    expect(clock.now()).toBe(1_800_000_000_000);
    elapsed += 1_000;
    wall -= 3_600_000;
    expect(clock.now()).toBe(1_800_000_001_000);
    wall += 86_400_000;
    expect(clock.now()).toBe(1_800_000_001_000);
  });

  test("goes on with this machine", () => {
    const clock = steadyClock();
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000);
    expect(Number.isInteger(clock.now())).toBe(true);
  });
});

describe("sleep", () => {
  /** Returns whether the promise settles by the next turn of the event loop. */
  async function settled(promise: Promise<void>): Promise<boolean> {
    const done = promise.then(() => true);
    return await Promise.race([
      done,
      new Promise<false>((resolve) => setImmediate(() => resolve(false))),
    ]);
  }

  test("lasts as long as it should", async () => {
    const clock = new ManualClock();
    const nap = sleep(clock, 1_000);
    await clock.advance(999);
    expect(await settled(nap)).toBe(false);
    await clock.advance(1);
    expect(await settled(nap)).toBe(true);
  });

  test("ends when the signal aborts, without an error and without a timer left behind", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const nap = sleep(clock, 1_000, stop.signal);
    expect(await settled(nap)).toBe(false);
    stop.abort(new Error("stop"));
    await expect(nap).resolves.toBeUndefined();
    expect(clock.waiting).toBe(0);
  });

  test("does not begin when the signal has aborted before", async () => {
    const clock = new ManualClock();
    await expect(sleep(clock, 1_000, AbortSignal.abort())).resolves.toBeUndefined();
    expect(clock.waiting).toBe(0);
  });

  test("leaves no listener on a signal that outlives it", async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    const naps = [sleep(clock, 1, signal), sleep(clock, 2, signal)];
    expect(getEventListeners(signal, "abort")).toHaveLength(2);
    await clock.advance(2);
    await Promise.all(naps);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("is upkeep if declared so", async () => {
    const timer = vi.fn(() => () => undefined);
    void sleep({ now: () => 0, timer }, 1_000, undefined, { background: true });
    expect(timer).toHaveBeenCalledWith(1_000, expect.any(Function), { background: true });
  });
});

describe("every", () => {
  test("does it again and again, one time after the other, until the signal aborts", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const work = vi.fn(() => sleep(clock, 500));
    const all = every(clock, 1_000, work, stop.signal);
    await clock.advance(999);
    expect(work).toHaveBeenCalledTimes(0);
    await clock.advance(1_500);
    expect(work).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    expect(work).toHaveBeenCalledTimes(2);
    stop.abort();
    await clock.advance(5_000);
    await expect(all).resolves.toBeUndefined();
    expect(work).toHaveBeenCalledTimes(2);
    expect(clock.waiting).toBe(0);
  });

  test("ends with what the work rejects with", async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    const all = every(clock, 1_000, () => Promise.reject(new Error("no")), signal);
    const failed = expect(all).rejects.toThrow("no");
    await clock.advance(1_000);
    await failed;
  });
});
