import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoff } from "../faces/core.ts";

const policy = { baseMs: 1_000, maxMs: 300_000, factor: 2 };
/** The largest value that `Math.random` can return. */
const almostOne = () => 1 - 2 ** -53;

const policies = fc.record({
  baseMs: fc.nat({ max: 100_000 }),
  maxMs: fc.nat({ max: 10_000_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
});
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("every wait is a whole number from 0 to its bound, which never passes the maximum", () => {
  fc.assert(
    fc.property(
      policies,
      fc.integer({ min: 1, max: 100_000 }),
      random,
      (options, attempt, chance) => {
        const wait = backoff(options, attempt, () => chance);
        const { baseMs, maxMs, factor } = options;
        const bound = baseMs === 0 ? 0 : Math.min(maxMs, baseMs * factor ** (attempt - 1));
        expect(Number.isInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(bound);
      },
    ),
    { numRuns: 2_000 },
  );
});

describe("the bound", () => {
  test.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [9, 256_000],
    [10, 300_000],
    [5_000, 300_000],
  ])("of wait %i is %i ms, and is almost reached", (attempt, bound) => {
    expect(backoff(policy, attempt, almostOne)).toBe(bound - 1);
  });

  test("is the first one before the first try, too", () => {
    expect(backoff(policy, 0, almostOne)).toBe(999);
  });

  test("of a base of 0 is 0, however many tries there were", () => {
    for (const attempt of [1, 100, 2_000]) {
      expect(backoff({ ...policy, baseMs: 0 }, attempt, almostOne)).toBe(0);
    }
  });
});

test("jitter is full: the wait follows the random number from 0 on", () => {
  expect([0, 0.25, 0.5, 0.75].map((chance) => backoff(policy, 3, () => chance))).toEqual([
    0, 1_000, 2_000, 3_000,
  ]);
});

test("without a source of random numbers two waits hardly ever are one", () => {
  const waits = new Set(Array.from({ length: 50 }, () => backoff(policy, 9)));
  expect(waits.size).toBeGreaterThan(10);
});
