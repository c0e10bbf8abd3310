import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../src/testing/index.ts";
import { sleep } from "../faces/core.ts";

describe("the time", () => {
  test("stands still until it is advanced", async () => {
    const clock = new ManualClock(1_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.now()).toBe(1_000);
    await clock.advance(234);
    expect(clock.now()).toBe(1_234);
  });

  test("begins with the present by default", () => {
    const before = Date.now();
    const now = new ManualClock().now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  test("in a timer is the time at which it was due, not the one advanced to", async () => {
    const clock = new ManualClock(0);
    const seen: number[] = [];
    clock.timer(10, () => seen.push(clock.now()));
    clock.timer(20, () => seen.push(clock.now()));
    await clock.advance(100);
    expect(seen).toEqual([10, 20]);
    expect(clock.now()).toBe(100);
  });
});

describe("timers", () => {
  test("fire when they are due, not before, and once", async () => {
    const clock = new ManualClock();
    let fired = 0;
    clock.timer(10, () => {
      fired += 1;
    });
    expect(clock.waiting).toBe(1);
    await clock.advance(9);
    expect(fired).toBe(0);
    await clock.advance(1);
    expect(fired).toBe(1);
    expect(clock.waiting).toBe(0);
    await clock.advance(1_000);
    expect(fired).toBe(1);
  });

  test("fire in order of time, and of their making where that is one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 50 }), { maxLength: 10 }), async (delays) => {
        const clock = new ManualClock();
        const fired: number[] = [];
        for (const [index, ms] of delays.entries()) clock.timer(ms, () => fired.push(index));
        await clock.advance(50);
        const expected = delays
          .map((ms, index) => ({ ms, index }))
          .sort((a, b) => a.ms - b.ms || a.index - b.index);
        expect(fired).toEqual(expected.map(({ index }) => index));
      }),
      { numRuns: 30 },
    );
  });

  test("in the background fire once for all that they missed, after the others", async () => {
    const clock = new ManualClock(0);
    const fired: string[] = [];
    const again = () => {
      fired.push(`upkeep at ${clock.now()}`);
      clock.timer(10, again, { background: true });
    };
    clock.timer(10, again, { background: true });
    clock.timer(900, () => fired.push(`work at ${clock.now()}`));
    await clock.advance(1_000);
    expect(fired).toEqual(["work at 900", "upkeep at 1000"]);
    await clock.advance(10);
    expect(fired.at(-1)).toBe("upkeep at 1010");
  });

  test("that were cancelled do not fire, and others do", async () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    const cancel = clock.timer(10, () => fired.push("cancelled"));
    clock.timer(10, () => fired.push("kept"));
    cancel();
    cancel();
    await clock.advance(10);
    expect(fired).toEqual(["kept"]);
  });

  test("may be cancelled by one that fires before, at the same time", async () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    clock.timer(10, () => {
      fired.push("first");
      cancel();
    });
    const cancel = clock.timer(10, () => fired.push("second"));
    await clock.advance(10);
    expect(fired).toEqual(["first"]);
  });

  test("that a timer makes fire within the same advance, if they fall due", async () => {
    const clock = new ManualClock(0);
    const seen: number[] = [];
    const again = () => {
      seen.push(clock.now());
      clock.timer(10, again);
    };
    clock.timer(10, again);
    await clock.advance(35);
    expect(seen).toEqual([10, 20, 30]);
  });

  test("with a time in the past fire at the next advance, however small", async () => {
    const clock = new ManualClock(0);
    const seen: number[] = [];
    clock.timer(-5, () => seen.push(clock.now()));
    await clock.advance(0);
    expect(seen).toEqual([0]);
  });

  test("what promises make of a timer comes before the next one fires", async () => {
    const clock = new ManualClock();
    const order: string[] = [];
    const nap = async (ms: number) => {
      await sleep(clock, ms);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${ms} over`);
    };
    const naps = [nap(10), nap(20)];
    clock.timer(15, () => order.push("15 fires"));
    await clock.advance(20);
    await Promise.all(naps);
    expect(order).toEqual(["10 over", "15 fires", "20 over"]);
  });
});
