import { environmentLine } from "./environment.ts";
import type { Failure, Report } from "./report.ts";
import { readable, type Section } from "./table.ts";
import { judge, type Verdict } from "./targets.ts";

/** Generated parts of docs/internals/performance.md, between `<!-- NAME:begin -->` and `<!-- NAME:end -->`. */
type Part = "summary" | "targets";

/** Minimum number of rounds for figures that go into the page. */
export const FEWEST_ROUNDS = 5;

/**
 * Returns the page with the report inserted: a summary, and the ratios that have a target. The report has all figures.
 *
 * @throws {Error} if the page has no markers for a part
 */
export function insertReport(page: string, report: Report): string {
  const parts = [
    ["summary", summaryOf(report.sections)],
    ["targets", targetsOf(report)],
  ] as const;
  return parts.reduce((written, [part, document]) => insertPart(written, part, document), page);
}

function summaryOf(sections: readonly Section[]): string {
  const rows = sections.flatMap(({ results }) =>
    results.flatMap(({ headline, median, unit }) =>
      headline === undefined ? [] : [row([headline, `${readable(median)} ${unit}`])],
    ),
  );
  return ["| | median |", "|---|---:|", ...rows].join("\n");
}

function insertPart(page: string, part: Part, document: string): string {
  const [begin, end] = [`<!-- ${part}:begin -->`, `<!-- ${part}:end -->`];
  const [before, rest, ...more] = page.split(begin);
  const [, after, ...others] = rest?.split(end) ?? [];
  const isOnce = more.length + others.length === 0 && !before?.includes(end);
  if (before === undefined || after === undefined || !isOnce) {
    throw new Error(
      `The page must contain \`${begin}\` exactly once, followed by \`${end}\` exactly once`,
    );
  }
  return `${before}${begin}\n\n${document}\n\n${end}${after}`;
}

function targetsOf({ at, environment, rounds, sections, failures }: Report): string {
  const options = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" } as const;
  const day = new Date(at).toLocaleDateString("en-GB", options);
  const verdicts = judge(sections);
  const met = verdicts.filter((verdict) => verdict.met).length;
  return [
    wrapped(
      `${day}: ${environmentLine(environment)}; medians of ${rounds} rounds. ${met} of ${verdicts.length} targets met.`,
    ),
    "",
    "| | measured | median | ratio | to | target |",
    "|---:|---|---:|---:|---|---|",
    ...verdicts.map(targetRow),
    ...(failures.length === 0 ? [] : ["", ...failures.map(failureOf)]),
  ].join("\n");
}

function targetRow({ target, result, met }: Verdict): string {
  const { figure, median, unit, against = "", ratio } = result;
  return row([
    String(target.number ?? ""),
    figure,
    `${readable(median)} ${unit}`,
    ratio === undefined ? "" : ratio.toFixed(2),
    against,
    `${target.is} ${target.bound}: ${met ? "met" : "**missed**"}`,
  ]);
}

/**
 * @param names names of all benchmarks
 * @throws {Error} if the report does not cover a full run
 */
export function requireWhole(report: Report, names: readonly string[]): void {
  const { quick, rounds, sections, failures } = report;
  const there = new Set([...sections, ...failures].map(({ benchmark }) => benchmark));
  const missing = names.filter((name) => !there.has(name));
  const remedy = "run `npm run bench -- --document`";
  if (missing.length > 0) {
    throw new Error(
      `The last run was incomplete. Missing: ${missing.join(", ")}. Remedy: ${remedy}`,
    );
  }
  if (quick) throw new Error(`The last run used --quick. Remedy: ${remedy}`);
  if (rounds < FEWEST_ROUNDS) {
    throw new Error(`The last run had fewer than ${FEWEST_ROUNDS} rounds. Remedy: ${remedy}`);
  }
}

function failureOf({ benchmark, message }: Failure): string {
  const [first = ""] = message.split("\n");
  return `- ${benchmark} has **failed**: ${escaped(first)}`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(escaped).join(" | ")} |`;
}

/** Wraps a paragraph at 120 characters. */
function wrapped(words: string): string {
  return words.replace(/(.{1,120})(?:\s+|$)/g, "$1\n").trimEnd();
}

function escaped(words: string): string {
  return words.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
