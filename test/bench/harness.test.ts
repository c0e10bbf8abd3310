import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { parseArguments, roundsFor } from "../../bench/harness/arguments.ts";
import { type Benchmark, FIRST_ROUND, type Subject } from "../../bench/harness/benchmark.ts";
import { choose, findBenchmarks } from "../../bench/harness/find.ts";
import { median, resultsOf } from "../../bench/harness/results.ts";
import { measureRounds } from "../../bench/harness/rounds.ts";
import { table } from "../../bench/harness/table.ts";
import { judge, shareOf, verdictLines } from "../../bench/harness/targets.ts";
import { missingDependencies } from "../../scripts/registry/install.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A subject whose samples are these, one for each time that it is measured. */
function subjectOf(name: string, samples: readonly number[], log: string[] = []): Subject {
  let nth = 0;
  return () => {
    log.push(name);
    nth += 1;
    return Promise.resolve({ [name]: samples[nth - 1] ?? Number.NaN });
  };
}

describe("the rounds", () => {
  test("measure all subjects in turn, and the first in the place of the last every other round", async () => {
    const log: string[] = [];
    const subjects = ["a", "b", "c"].map((name) => subjectOf(name, [], log));
    await measureRounds(subjects, 2);
    expect(log.join("")).toBe("abc" + "abc" + "cba");
  });

  test("leave the warm-up out", async () => {
    const measured = await measureRounds([subjectOf("a", [99, 1, 2])], 2);
    expect(measured.get("a")).toEqual([1, 2]);
  });

  test("begin at once where there is nothing to warm up", async () => {
    const measured = await measureRounds([subjectOf("a", [1, 2])], 2, false);
    expect(measured.get("a")).toEqual([1, 2]);
  });

  test("refuse two subjects with a sample of the same name", async () => {
    const twice = measureRounds([subjectOf("a", [1, 1]), subjectOf("a", [1, 1])], 1);
    await expect(twice).rejects.toThrow('two subjects of one benchmark sample "a"');
  });
});

describe("the results", () => {
  test.each([
    [[3], 3],
    [[5, 1, 3], 3],
    [[4, 1, 3, 10], 3.5],
  ])("the median of %j is %d", (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  test("a ratio is the median of the rounds' own, so that a slow round counts on both sides", () => {
    const measured = new Map([
      ["ours", [50, 5, 60]],
      ["limit", [100, 10, 100]],
    ]);
    const [ours, limit] = resultsOf(
      [
        { name: "ours", sample: "ours", unit: "x/s", against: "limit" },
        { name: "the limit", sample: "limit", unit: "x/s" },
      ],
      measured,
    );
    expect(ours).toMatchObject({ median: 50, min: 5, max: 60, against: "the limit", ratio: 0.5 });
    expect(limit).not.toHaveProperty("ratio");
  });

  test("what should stay as it is is compared with its own first round", () => {
    const measured = new Map([["heap", [10, 30, 11]]]);
    const figure = { name: "heap", sample: "heap", unit: "MiB", against: FIRST_ROUND } as const;
    const [heap] = resultsOf([figure], measured);
    expect(heap).toMatchObject({ against: "its first round", ratio: 1.1 });
  });

  test("of several peers the best one of each round is what counts", () => {
    const measured = new Map([
      ["ours", [10, 10, 10]],
      ["one", [20, 5, 40]],
      ["two", [5, 20, 30]],
    ]);
    const figures = [
      { name: "ours", sample: "ours", unit: "x/s", against: ["one", "two"] },
      { name: "the first peer", sample: "one", unit: "x/s" },
      { name: "the second peer", sample: "two", unit: "x/s" },
    ];
    expect(resultsOf(figures, measured)[0]).toMatchObject({
      against: "the first peer",
      ratio: 0.5,
    });
  });

  test("a figure without samples is an error", () => {
    const figure = { name: "a", sample: "b", unit: "x/s" };
    expect(() => resultsOf([figure], new Map())).toThrow('no subject of the benchmark samples "b"');
  });

  test("stand in one table, with their ratios", () => {
    const result = { figure: "ours", unit: "x/s", median: 1234.5, min: 0.5, max: 20, rounds: [] };
    const lines = table([
      {
        benchmark: "a/b",
        title: "how fast",
        results: [{ ...result, ratio: 0.5, against: "limit" }],
      },
    ]).split("\n");
    expect(lines).toContain("a/b: how fast");
    expect(lines.at(-1)).toMatch(/^ {2}ours +1,235 +0\.500 to 20\.0 +x\/s +0\.50 +limit$/);
  });
});

describe("the targets", () => {
  const result = { figure: "ours", unit: "MiB", min: 0, max: 0, rounds: [] };
  const section = (...results: object[]) => ({
    benchmark: "a/b",
    title: "",
    results: results.map((each) => ({ ...result, median: 50, ...each })),
  });

  test("are met by a ratio, or by the median where nothing is compared", () => {
    const verdicts = judge([
      section(
        { ratio: 1.5, against: "a peer", target: { number: 2, bound: 1, is: "at least" } },
        { target: { number: 1, bound: 40, is: "at most" } },
        { ratio: 0.5, against: "a peer", target: { bound: 0.5, is: "at most" } },
        { ratio: 0.5 },
      ),
    ]);
    expect(verdicts.map(({ met, margin, reached }) => [met, margin, reached])).toEqual([
      [false, -0.25, 50],
      [true, 0.5, 1.5],
      [true, 0, 0.5],
    ]);
    expect(verdictLines(verdicts).split("\n")).toEqual([
      "  1  MISSED by 25 %    50.00, at most 40     a/b: ours, in MiB",
      "  2  met by 50 %        1.50, at least 1     a/b: ours, to a peer",
      "     met by 0 %         0.50, at most 0.5    a/b: ours, to a peer",
      "2 of 3 targets met",
    ]);
  });

  test.each([
    [0.25, "25 %"],
    [-0.004, "0.4 %"],
    [0, "0 %"],
  ])("a margin of %d is %s", (margin, share) => {
    expect(shareOf(margin)).toBe(share);
  });

  test("are not met by what is no number", () => {
    const target = { bound: 1, is: "at most" };
    expect(judge([section({ ratio: Number.NaN, target })])).toMatchObject([{ met: false }]);
  });
});

describe("the command line", () => {
  test("takes everything, in 7 rounds, unless told otherwise", () => {
    const nothing = { quick: false, help: false, words: [], document: false, fromLast: false };
    expect(parseArguments([])).toEqual(nothing);
    expect(roundsFor(parseArguments([]))).toBe(7);
    expect(roundsFor(parseArguments(["--quick"]))).toBe(3);
    expect(roundsFor(parseArguments(["--rounds", "5"]))).toBe(5);
    expect(parseArguments(["--only", "Ingest, peers"]).words).toEqual(["ingest", "peers"]);
  });

  test.each(["0", "1.5", "many"])("refuses %s rounds", (rounds) => {
    expect(() => parseArguments(["--rounds", rounds])).toThrow("--rounds must be a whole number");
  });

  test.each([
    [["--document", "--quick"], "the amounts of --quick are too small"],
    [["--document", "--only", "ingest"], "leave --only out"],
    [["--document", "--rounds", "4"], "medians of at least 5 rounds"],
    [["--from-last"], "--from-last goes with --document"],
    [["--document", "--from-last", "--rounds", "7"], "measures nothing; leave --rounds out"],
  ])("refuses %j", (args, reason) => {
    expect(() => parseArguments(args)).toThrow(reason);
  });

  test("takes the document of a whole run, or of the last one", () => {
    expect(parseArguments(["--document", "--rounds", "5"])).toMatchObject({ document: true });
    expect(parseArguments(["--document", "--from-last"])).toMatchObject({ fromLast: true });
  });

  test("chooses by words of the name or the title, and refuses a word that fits nothing", () => {
    const named = (name: string, title: string) => {
      const benchmark: Benchmark = { title, prepare: () => Promise.reject(new Error("unused")) };
      return { name, benchmark };
    };
    const all = [named("a/one", "Slow things"), named("b/two", "fast things")];
    const names = (...words: string[]) => choose(all, words).map(({ name }) => name);
    expect(names()).toEqual(["a/one", "b/two"]);
    expect(names("slow")).toEqual(["a/one"]);
    expect(names("two", "a/")).toEqual(["a/one", "b/two"]);
    expect(() => names("slow", "three")).toThrow('"three"; there are: a/one, b/two');
  });
});

test("every benchmark can be found, and says what it measures", async () => {
  const found = await findBenchmarks();
  expect(found.map(({ name }) => name)).toContain("platform/delivery");
  for (const { benchmark } of found) expect(benchmark.title).not.toBe("");
});

test("a peer is missing when it is not installed, or in another version than the one pinned", () => {
  const folder = temporaryFolder();
  const write = (path: string, manifest: object) => {
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, path, "package.json"), JSON.stringify(manifest));
  };
  write(".", { dependencies: { there: "1.0.0", "@scope/old": "2.0.0", absent: "3.0.0" } });
  write("node_modules/there", { version: "1.0.0" });
  write("node_modules/@scope/old", { version: "1.9.0" });
  const missing = missingDependencies(pathToFileURL(`${folder}/`));
  expect(missing).toEqual(["@scope/old@2.0.0", "absent@3.0.0"]);
});
