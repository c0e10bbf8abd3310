import { expect, test } from "vitest";
import { checkRuns, readRuns } from "./runs.ts";

const written = ["e1", "e2", "e3"].map((id) => ({ id, lane: "c1", text: id, answers: 1 }));

test("one run per event in order is as promised", () => {
  expect(checkRuns(written, readRuns("e1 c1 false\ne2 c1 false\ne3 c1 false\n"))).toEqual([]);
});

test("a late event that is called late is as promised", () => {
  expect(checkRuns(written, readRuns("e1 c1 false\ne3 c1 false\ne2 c1 true\n"))).toEqual([]);
});

test.each([
  [
    "an event has two runs",
    "e1 c1 false\ne2 c1 false\ne2 c1 false\ne3 c1 false\n",
    /^duplicated: e2/,
  ],
  ["an event has no run", "e1 c1 false\ne3 c1 false\n", /^lost: e2 had 0 runs/],
  [
    "a late event is not called late",
    "e1 c1 false\ne3 c1 false\ne2 c1 false\n",
    /^reordered: e2 was not/,
  ],
  [
    "an event is called late for nothing",
    "e1 c1 true\ne2 c1 false\ne3 c1 false\n",
    /^reordered: e1 was called/,
  ],
])("the checker sees that %s", (_what, text, says) => {
  expect(checkRuns(written, readRuns(text))).toContainEqual(expect.stringMatching(says));
});
