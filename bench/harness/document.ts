import { environmentLine } from "./environment.ts";
import type { Failure, Report } from "./report.ts";
import { readable } from "./table.ts";
import { judge, type Verdict } from "./targets.ts";

/** The targets in docs/internals/performance.md are between these comments. */
const [BEGIN, END] = ["<!-- targets:begin -->", "<!-- targets:end -->"];

/** Minimum number of rounds for figures that go into the page. */
export const FEWEST_ROUNDS = 5;

/**
 * Returns the page with the ratios that have a target. The report has all figures.
 *
 * @throws {Error} if the page does not have the place for them once
 */
export function insertReport(page: string, report: Report): string {
  const [before, rest, ...more] = page.split(BEGIN);
  const [, after, ...others] = rest?.split(END) ?? [];
  const isOnce = more.length + others.length === 0 && !before?.includes(END);
  if (before === undefined || after === undefined || !isOnce) {
    throw new Error(
      `The page must contain \`${BEGIN}\` exactly once, followed by \`${END}\` exactly once`,
    );
  }
  return `${before}${BEGIN}\n\n${targetsOf(report)}\n\n${END}${after}`;
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
