import { describe, expect, test } from "vitest";
import { documentOf, insertDocument, requireWhole } from "../../bench/harness/document.ts";
import type { Report } from "../../bench/harness/report.ts";

const environment = { node: "v24.1.0", cpu: "A CPU", cores: 2, memory: 8, system: "Linux 6" };
const common = { unit: "x/s", rounds: [] };

const report: Report = {
  at: "2026-11-22T23:59:00.000Z",
  environment,
  quick: false,
  rounds: 7,
  sections: [
    {
      benchmark: "a/one",
      title: "How fast",
      results: [
        { ...common, figure: "a | peer", median: 100, min: 90, max: 110 },
        {
          ...{ ...common, figure: "ours", median: 1234.5, min: 50, max: 2000 },
          ...{ ratio: 0.75, against: "a | peer" },
          target: { number: 2, bound: 1, is: "at least" },
        },
        {
          ...{ ...common, figure: "memory", unit: "MiB", median: 30, min: 30, max: 30 },
          target: { number: 1, bound: 40, is: "at most" },
        },
      ],
    },
    {
      benchmark: "b/two",
      title: "How slow",
      results: [{ ...common, figure: "ours", median: 1, min: 1, max: 1 }],
    },
  ],
  failures: [{ benchmark: "c/three", message: "it <ended>\n    at once" }],
};

describe("the document", () => {
  test("says where the figures come from, and has a table for each benchmark, and the targets", () => {
    expect(documentOf(report).split("\n")).toEqual([
      "22 November 2026: Node v24.1.0, A CPU, 2 cores, 8 GiB, Linux 6; 7 rounds.",
      "",
      "### a/one",
      "",
      "How fast.",
      "",
      "| figure | median | lowest to highest | unit | ratio | to | target |",
      "| --- | ---: | ---: | --- | ---: | --- | --- |",
      "| a \\| peer | 100 | 90.0 to 110 | x/s |  |  |  |",
      "| ours | 1,235 | 50.0 to 2,000 | x/s | 0.75 | a \\| peer | at least 1: **missed** |",
      "| memory | 30.0 | 30.0 to 30.0 | MiB |  |  | at most 40: met |",
      "",
      "### b/two",
      "",
      "How slow.",
      "",
      "| figure | median | lowest to highest | unit | ratio | to |",
      "| --- | ---: | ---: | --- | ---: | --- |",
      "| ours | 1.00 | 1.00 to 1.00 | x/s |  |  |",
      "",
      "- c/three has **failed**: it &lt;ended>",
      "",
      "### Targets met and missed",
      "",
      "- 1. a/one: memory, in MiB: 30.00, at most 40, met by 25 %",
      "- 2. a/one: ours, to a | peer: 0.75, at least 1, **missed** by 25 %",
      "",
      "1 of 2 targets met.",
    ]);
  });

  test("takes the place of the one before it, and leaves the rest of the page", () => {
    const page = "# Title\n\n<!-- bench:begin -->\nold\n<!-- bench:end -->\n\nMore.\n";
    const first = insertDocument(page, "new");
    const made = "# Title\n\n<!-- bench:begin -->\n\nnew\n\n<!-- bench:end -->\n\nMore.\n";
    expect(first).toBe(made);
    expect(insertDocument(first, "new")).toBe(made);
  });

  test.each([
    "no marker",
    "<!-- bench:begin -->",
    "<!-- bench:end -->",
    "<!-- bench:end --> <!-- bench:begin -->",
    "<!-- bench:end --> <!-- bench:begin --> <!-- bench:end -->",
    "<!-- bench:begin --> <!-- bench:begin --> <!-- bench:end -->",
    "<!-- bench:begin --> <!-- bench:end --> <!-- bench:end -->",
  ])("has no place in a page with %s", (page) => {
    expect(() => insertDocument(page, "new")).toThrow("must have `<!-- bench:begin -->` once");
  });

  test("is made of a whole run alone; a benchmark that failed was a part of it", () => {
    const names = ["a/one", "b/two", "c/three"];
    const refusal = (part: Partial<Report>, all = names) =>
      expect(() => requireWhole({ ...report, ...part }, all));
    refusal({}).not.toThrow();
    refusal({}, [...names, "d/four"]).toThrow("not of everything, d/four is missing");
    refusal({ quick: true }).toThrow("one with --quick");
    refusal({ rounds: 4 }).toThrow("fewer than 5 rounds");
    refusal({ rounds: 5 }).not.toThrow();
  });
});
