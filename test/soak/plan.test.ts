import { describe, expect, test } from "vitest";
import { faultKinds, planOf, type Span } from "./plan.ts";

const faultsOf = (spans: readonly Span[]) => spans.filter(({ kind }) => kind !== "pinned reader");

describe.each([6, 60, 600, 7_200])("the plan of a run of %i seconds", (seconds) => {
  const seeds = Array.from({ length: 50 }, (_, seed) => planOf(seed, seconds));

  test("has each kind of fault twice, and two pinned readers", () => {
    for (const { spans } of seeds) {
      for (const kind of [...faultKinds, "pinned reader"] as const) {
        const count = spans.filter((span) => span.kind === kind).length;
        expect(count, kind).toBeGreaterThanOrEqual(2);
      }
    }
  });

  test("has one fault at a time, in order, and a calm beginning and end", () => {
    for (const { spans } of seeds) {
      expect(spans.map(({ from }) => from)).toEqual(spans.map(({ from }) => from).sort(ascending));
      let end = 0.05 * seconds;
      for (const { from, to } of faultsOf(spans)) {
        expect(from).toBeGreaterThanOrEqual(end);
        expect(to).toBeGreaterThan(from);
        end = to;
      }
      expect(end).toBeLessThanOrEqual(0.95 * seconds);
    }
  });

  test("sends somebody to the dead letters, before its end", () => {
    const [{ rounds } = { rounds: [] }] = seeds;
    expect(rounds.length).toBeGreaterThanOrEqual(2);
    expect(rounds.every((second) => second > 0 && second < seconds)).toBe(true);
  });
});

test("one seed makes one plan, and another one another", () => {
  expect(planOf(1, 7_200)).toEqual(planOf(1, 7_200));
  expect(planOf(1, 7_200)).not.toEqual(planOf(2, 7_200));
});

test("a reader pins for five minutes of two hours, once in each half", () => {
  const pins = planOf(1, 7_200).spans.filter(({ kind }) => kind === "pinned reader");
  expect(pins.map(({ from, to }) => [from, to - from])).toEqual([
    [720, 288],
    [4_320, 288],
  ]);
});

function ascending(a: number, b: number): number {
  return a - b;
}
