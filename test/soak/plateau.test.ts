import { describe, expect, test } from "vitest";
import { mulberry32 } from "../support/mulberry32.ts";
import { median, type Point, plateauOf, type Rule } from "./plateau.ts";

const HOURS_2 = 7_200;
const rule: Rule = { share: 0.15, floor: 5, by: "median" };

/** A sample every five seconds. */
function samples(value: (at: number) => number, seconds = HOURS_2): Point[] {
  return Array.from({ length: seconds / 5 }, (_, nth) => ({ at: nth * 5, value: value(nth * 5) }));
}

/** Memory, as it is seen: it fills up, and is collected at moments of its own. */
function sawtooth(seed: number): (at: number) => number {
  const random = mulberry32(seed);
  let above = 0;
  return () => {
    above = random() < 0.02 ? 0 : above + random();
    return 100 + above;
  };
}

describe("a plateau", () => {
  test.each([1, 2, 3, 4, 5])("is reached by what is noisy and flat (seed %i)", (seed) => {
    const random = mulberry32(seed);
    const noisy = samples(() => 100 + 60 * random());
    expect(plateauOf(noisy, rule, HOURS_2).reached).toBe(true);
    const collected = samples(sawtooth(seed));
    expect(plateauOf(collected, { ...rule, by: "lowest" }, HOURS_2).reached).toBe(true);
  });

  test.each([1, 2, 3, 4, 5])("is not reached by what leaks below its noise (seed %i)", (seed) => {
    const noise = sawtooth(seed);
    const leaking = samples((at) => noise(at) + at / 100);
    const { reached, perHour } = plateauOf(leaking, { ...rule, by: "lowest" }, HOURS_2);
    expect(reached).toBe(false);
    expect(perHour).toBeGreaterThan(30);
    expect(perHour).toBeLessThan(42);
  });

  test("is reached by what rises at first and stays", () => {
    const rising = samples((at) => Math.min(at, 1_500));
    expect(plateauOf(rising, rule, HOURS_2)).toMatchObject({ second: 1_500, reached: true });
  });

  test("is not reached by what begins to rise in the second half", () => {
    const late = samples((at) => 100 + Math.max(0, at - 4_500) / 50);
    const { last, second, allowed, reached } = plateauOf(late, rule, HOURS_2);
    expect(last - second).toBeGreaterThan(allowed);
    expect(reached).toBe(false);
  });

  test("is not reached by a step that the slope of the second half does not show", () => {
    const step = samples((at) => (at < 3_600 ? 100 : 130));
    expect(plateauOf(step, rule, HOURS_2)).toMatchObject({ perHour: 0, reached: false });
  });

  test("is not reached by what rises from quarter to quarter by less than is allowed, and fast at the end", () => {
    // Down in the third quarter, up again in the last.
    const bent = samples((at) => 100 - Math.min(at, 5_400) / 100 + Math.max(0, at - 3_600) / 75);
    const { last, second, allowed, reached } = plateauOf(bent, rule, HOURS_2);
    expect(last - second).toBeLessThan(allowed);
    expect(reached).toBe(false);
  });

  test("bears single outliers, however high", () => {
    const spiky = samples((at) => (at % 600 === 0 ? 10_000 : 100));
    expect(plateauOf(spiky, rule, HOURS_2)).toMatchObject({
      ...{ second: 100, last: 100, perHour: 0, most: 10_000, reached: true },
    });
  });

  test("allows what is small its floor, and what is large its share", () => {
    const small = samples((at) => 10 + at / 1_800);
    expect(plateauOf(small, rule, HOURS_2)).toMatchObject({ allowed: 5, reached: true });
    const large = samples((at) => 1_000 + at / 36);
    expect(plateauOf(large, rule, HOURS_2).reached).toBe(true);
    expect(plateauOf(large, { ...rule, share: 0 }, HOURS_2).reached).toBe(false);
  });

  test("is reached by what falls", () => {
    const falling = samples((at) => 1_000 - at / 10);
    expect(plateauOf(falling, rule, HOURS_2).reached).toBe(true);
  });

  test("of a short run goes by what the run itself would add, not by an hour", () => {
    const minute = samples((at) => 100 + at / 10, 60);
    const { perHour, reached } = plateauOf(minute, rule, 60);
    expect(perHour).toBeCloseTo(360);
    expect(reached).toBe(true);
  });

  test("is not reached where nothing was measured in the second half", () => {
    const half = samples(() => 100).filter(({ at }) => at < 3_600);
    expect(plateauOf(half, rule, HOURS_2).reached).toBe(false);
  });
});

test("the median of an even number is between the two in the middle", () => {
  expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([])]).toEqual([2, 2.5, Number.NaN]);
});
