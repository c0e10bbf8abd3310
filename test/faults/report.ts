import type { Outcome } from "./scenario.ts";

/** A scenario that has been run. */
export interface Result {
  readonly name: string;
  readonly outcome: Outcome;
  readonly seconds: number;
}

/** So many violations are shown in full; more of them say nothing new. */
const SHOWN = 20;

/** What came of one scenario, for people who wait. */
export function summary({ outcome, seconds }: Result, seed: number): string {
  const { violations } = outcome;
  const lines = violations.slice(0, SHOWN).map((violation) => `  VIOLATION ${violation}`);
  if (violations.length > SHOWN) lines.push(`  and ${violations.length - SHOWN} more`);
  if (violations.length > 0) lines.push(`  Run again with --seed ${seed}.`);
  lines.push(`  ${figures(outcome)}; ${violations.length} violations, ${seconds.toFixed(0)} s`);
  return lines.join("\n");
}

/** Markdown. */
export function table(results: readonly Result[]): string {
  const rows = results.map(
    ({ name, outcome, seconds }) =>
      `| ${name} | ${figures(outcome)} | ${outcome.violations.length} | ${seconds.toFixed(0)} |`,
  );
  return [
    "| fault | what was done and measured | violations | seconds |",
    "|---|---|--:|--:|",
    ...rows,
  ].join("\n");
}

function figures({ figures: all }: Outcome): string {
  return Object.entries(all)
    .map(([name, value]) => `${name}: ${typeof value === "number" ? thousands(value) : value}`)
    .join(", ");
}

function thousands(value: number): string {
  return value.toLocaleString("en-US");
}
