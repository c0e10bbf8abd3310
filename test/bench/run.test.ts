import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { parseArguments } from "../../bench/harness/arguments.ts";
import type { Benchmark, Stage } from "../../bench/harness/benchmark.ts";
import { Child } from "../../bench/harness/child.ts";
import { type Report, readReport, writeReport } from "../../bench/harness/report.ts";
import { runAll } from "../../bench/harness/run.ts";
import type { Endpoint } from "../../bench/processes/endpoint.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const wanted = parseArguments(["--rounds", "1"]);

/** A benchmark with one figure. */
function benchmarkOf(stage: Partial<Stage> = {}): Benchmark {
  return {
    title: "a title",
    prepare: () =>
      Promise.resolve({
        subjects: [() => Promise.resolve({ one: 1 })],
        figures: [{ name: "one", sample: "one", unit: "x" }],
        close: () => Promise.resolve(),
        ...stage,
      }),
  };
}

const fails = () => Promise.reject(new Error("it is broken"));

beforeEach(() => {
  vi.spyOn(console, "log").mockImplementation(() => undefined);
  vi.spyOn(process.stdout, "write").mockImplementation(() => true);
});

const outcome = ({ sections, failures }: Report) => ({
  measured: sections.map(({ benchmark }) => benchmark),
  failed: failures.map(({ benchmark, message }) => `${benchmark}: ${message}`),
});

describe("a run", () => {
  test.each<[string, Benchmark]>([
    ["cannot be prepared", { title: "", prepare: fails }],
    ["cannot be measured", benchmarkOf({ subjects: [fails] })],
    [
      "can be neither measured nor closed",
      benchmarkOf({ subjects: [fails], close: () => Promise.reject(new Error("closed")) }),
    ],
    ["cannot be closed", benchmarkOf({ close: fails })],
  ])("goes on after a benchmark that %s, and tells why", async (_, benchmark) => {
    const chosen = [
      { name: "a", benchmark: benchmarkOf() },
      { name: "b", benchmark },
      { name: "c", benchmark: benchmarkOf() },
    ];
    const report = await runAll(chosen, wanted, () => undefined);
    expect(outcome(report)).toEqual({ measured: ["a", "c"], failed: ["b: it is broken"] });
  });

  test("warms up, unless a benchmark says that there is nothing to warm", async () => {
    const subject = vi.fn(() => Promise.resolve({ one: 1 }));
    const benchmark = benchmarkOf({ subjects: [subject] });
    const chosen = [
      { name: "a", benchmark },
      { name: "b", benchmark: { ...benchmark, warmUp: false as const } },
    ];
    const times: number[] = [];
    await runAll(chosen, wanted, () => times.push(subject.mock.calls.length));
    expect(times).toEqual([2, 3]);
  });

  test("closes what could not be measured", async () => {
    const close = vi.fn(() => Promise.resolve());
    const benchmark = benchmarkOf({ subjects: [fails], close });
    await runAll([{ name: "a", benchmark }], wanted, () => undefined);
    expect(close).toHaveBeenCalledOnce();
  });

  test("ends the processes of a benchmark that failed", async () => {
    const endpoint = new Child<Endpoint>("processes/endpoint.ts");
    await endpoint.call("listen");
    // One that goes on for ever.
    const left = expect(endpoint.call("received", 1)).rejects.toThrow("has ended");
    const chosen = [
      { name: "a", benchmark: benchmarkOf() },
      { name: "b", benchmark: benchmarkOf({ subjects: [fails] }) },
    ];
    await runAll(chosen, wanted, () => undefined);
    await left;
  });

  test("keeps its report after each benchmark", async () => {
    const kept: ReturnType<typeof outcome>[] = [];
    const chosen = [
      { name: "a", benchmark: benchmarkOf() },
      { name: "b", benchmark: benchmarkOf({ subjects: [fails] }) },
    ];
    await runAll(chosen, wanted, (report) => kept.push(outcome(report)));
    expect(kept).toEqual([
      { measured: ["a"], failed: [] },
      { measured: ["a"], failed: ["b: it is broken"] },
    ]);
  });

  test("has as many rounds with --quick as a benchmark says, unless it is told how many", async () => {
    const chosen = [
      { name: "a", benchmark: benchmarkOf() },
      { name: "b", benchmark: { ...benchmarkOf(), quickRounds: 1 } },
    ];
    const rounds = async (...args: string[]) => {
      const { sections } = await runAll(chosen, parseArguments(args), () => undefined);
      return sections.map(({ results }) => results[0]?.rounds.length);
    };
    expect(await rounds()).toEqual([7, 7]);
    expect(await rounds("--quick")).toEqual([3, 1]);
    expect(await rounds("--quick", "--rounds", "2")).toEqual([2, 2]);
  });
});

describe("a report", () => {
  const file = () => pathToFileURL(`${temporaryFolder()}/results/latest.json`);

  test("is read as it was written, with what is no number", async () => {
    const at = file();
    const subjects = [() => Promise.resolve({ one: Number.NaN })];
    const chosen = [{ name: "a", benchmark: benchmarkOf({ subjects }) }];
    const report = await runAll(chosen, wanted, (so) => writeReport(so, at));
    expect(report.sections[0]?.results[0]?.median).toBe(Number.NaN);
    expect(readReport(at)).toEqual(report);
  });

  test("that was never written is asked for with what writes it", () => {
    expect(() => readReport(file())).toThrow("`npm run bench` writes it");
  });
});
