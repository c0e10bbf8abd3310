import { expect, test } from "vitest";
import { aboveLimit, LIMIT, TRIES } from "../../scripts/release-check/limit.ts";

/** Tries whose figures have these ratios; no ratio is what others are compared with. */
function tries(...ratios: readonly Readonly<Record<string, number | undefined>>[]) {
  const left = [...ratios];
  let count = 0;
  const measure = async () => {
    count += 1;
    return Object.entries(left.shift() ?? {}).map(([figure, ratio]) => ({
      ...{ figure, unit: "ms", median: 1, min: 1, max: 1, rounds: [] },
      ...(ratio === undefined ? {} : { ratio }),
    }));
  };
  return { measure, count: () => count };
}

const names = async (measured: ReturnType<typeof tries>) =>
  (await aboveLimit(measured.measure)).map(({ figure }) => figure);

test("what is within the limit at once is not measured again", async () => {
  const measured = tries({ peer: undefined, start: LIMIT, size: 0.5 });
  expect(await names(measured)).toEqual([]);
  expect(measured.count()).toBe(1);
});

test("each figure needs one try within the limit, and not the same as another", async () => {
  const measured = tries({ start: 1.3, size: 0.5 }, { start: 1.1, size: 1.3 });
  expect(await names(measured)).toEqual([]);
  expect(measured.count()).toBe(2);
});

test("what is above it in every try is told", async () => {
  const above = { start: 1.3, size: 0.5 };
  const measured = tries(...Array.from({ length: TRIES }, () => above));
  expect(await names(measured)).toEqual(["start"]);
  expect(measured.count()).toBe(TRIES);
});
