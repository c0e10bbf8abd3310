import { environmentLine } from "./environment.ts";
import type { Failure, Report } from "./report.ts";
import type { Result } from "./results.ts";
import { cells, HEAD, isNumeric, type Section } from "./table.ts";
import { judge, shareOf, type Verdict, verdictOf } from "./targets.ts";

/** What stands around the figures in docs/performance.md: `<!-- bench:begin -->`, `<!-- bench:end -->`. */
const MARK = "bench";

/** Targets are medians of at least so many rounds. */
export const FEWEST_ROUNDS = 5;

/** A report as Markdown: where it comes from, a table for each benchmark, and what became of the targets. */
export function documentOf(report: Report): string {
  const { at, environment, rounds, sections, failures } = report;
  const options = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" } as const;
  const day = new Date(at).toLocaleDateString("en-GB", options);
  return [
    `${day}: ${environmentLine(environment)}; ${rounds} rounds.`,
    ...sections.map(sectionOf),
    ...(failures.length === 0 ? [] : [failures.map(failureOf).join("\n")]),
    "### Targets met and missed",
    verdictsOf(judge(sections)),
  ].join("\n\n");
}

/**
 * Puts a document between the markers of a page, in the place of what stood there.
 *
 * @param mark the name in the markers
 * @throws {Error} a marker is missing, is there twice, or the second one comes first
 */
export function insertDocument(page: string, document: string, mark: string = MARK): string {
  const [begin, end] = [`<!-- ${mark}:begin -->`, `<!-- ${mark}:end -->`];
  const [before, rest, ...more] = page.split(begin);
  const [, after, ...others] = rest?.split(end) ?? [];
  const isOnce = more.length + others.length === 0 && !before?.includes(end);
  if (before === undefined || after === undefined || !isOnce) {
    throw new Error(
      `The figures have no place: the page must have \`${begin}\` once, and \`${end}\` once below it`,
    );
  }
  return `${before}${begin}\n\n${document}\n\n${end}${after}`;
}

/**
 * @param names of all benchmarks
 * @throws {Error} it is no report of a whole run
 */
export function requireWhole(report: Report, names: readonly string[]): void {
  const { quick, rounds, sections, failures } = report;
  const there = new Set([...sections, ...failures].map(({ benchmark }) => benchmark));
  const missing = names.filter((name) => !there.has(name));
  const remedy = "run `npm run bench -- --document`";
  if (missing.length > 0) {
    throw new Error(
      `The last run was not of everything, ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing: ${remedy}`,
    );
  }
  if (quick) throw new Error(`The last run was one with --quick: ${remedy}`);
  if (rounds < FEWEST_ROUNDS) {
    throw new Error(`The last run had fewer than ${FEWEST_ROUNDS} rounds: ${remedy}`);
  }
}

function sectionOf({ benchmark, title, results }: Section): string {
  const hasTargets = results.some(({ target }) => target !== undefined);
  const head = ["figure", ...HEAD.slice(1), ...(hasTargets ? ["target"] : [])];
  const rule = head.map((_, column) => (isNumeric(column) ? "---:" : "---"));
  const rows = results.map((result) => [
    ...cells(result),
    ...(hasTargets ? [targetOf(result)] : []),
  ]);
  return [`### ${benchmark}`, "", `${title}.`, "", ...[head, rule, ...rows].map(row)].join("\n");
}

function targetOf(result: Result): string {
  const verdict = verdictOf(result);
  if (verdict === undefined) return "";
  const { target, met } = verdict;
  return `${target.is} ${target.bound}: ${met ? "met" : "**missed**"}`;
}

function verdictsOf(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map(({ target, reached, met, margin, what }) => {
    const number = target.number === undefined ? "" : `${target.number}. `;
    const said = `${met ? "met" : "**missed**"} by ${shareOf(margin)}`;
    return `- ${number}${what}: ${reached.toFixed(2)}, ${target.is} ${target.bound}, ${said}`;
  });
  const count = verdicts.filter(({ met }) => met).length;
  return [...lines, "", `${count} of ${verdicts.length} targets met.`].join("\n");
}

function failureOf({ benchmark, message }: Failure): string {
  const [first = ""] = message.split("\n");
  return `- ${benchmark} has **failed**: ${escaped(first)}`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(escaped).join(" | ")} |`;
}

function escaped(words: string): string {
  return words.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
