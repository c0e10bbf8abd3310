import type { Result } from "./results.ts";

export interface Section {
  /** The benchmark's name, for example `ingest/single`. */
  readonly benchmark: string;
  readonly title: string;
  readonly results: readonly Result[];
}

const HEAD: readonly string[] = ["", "median", "lowest to highest", "unit", "ratio", "to"];

export function table(sections: readonly Section[]): string {
  const rows = sections.flatMap(({ results }) => results.map(indented));
  const widths = [HEAD, ...rows].reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, cell.length)),
    [],
  );
  const lines = sections.flatMap(({ benchmark, title, results }) => [
    "",
    `${benchmark}: ${title}`,
    ...results.map((result) => line(indented(result), widths)),
  ]);
  return [line(HEAD, widths), ...lines].join("\n");
}

function indented(result: Result): string[] {
  const [figure, ...others] = cells(result);
  return [`  ${figure}`, ...others];
}

function cells({ figure, median, min, max, unit, ratio, against }: Result): string[] {
  const range = `${readable(min)} to ${readable(max)}`;
  const compared = ratio === undefined ? "" : ratio.toFixed(2);
  return [figure, readable(median), range, unit, compared, against ?? ""];
}

/** Returns whether a column contains numbers. Numbers are right-aligned. */
function isNumeric(column: number): boolean {
  return [1, 2, 4].includes(column);
}

function line(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, column) =>
    isNumeric(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
  );
  return padded.join("  ").trimEnd();
}

/** Formats a number with three significant digits, or with all integer digits if there are more. */
export function readable(value: number): string {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toLocaleString("en-US", {
    minimumFractionDigits: Math.min(digits, 3),
    maximumFractionDigits: Math.min(digits, 3),
  });
}
