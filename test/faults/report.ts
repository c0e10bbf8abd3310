import type { Outcome, Scenario, ScenarioRun } from "./scenario.ts";

export interface Result {
  readonly name: string;
  readonly outcome: Outcome;
  readonly seconds: number;
}

/** Further violations add no information. */
const MAX_SHOWN = 20;

/** Runs a scenario, and measures how long it takes. */
export async function measure(scenario: Scenario, options: ScenarioRun): Promise<Result> {
  const started = performance.now();
  const outcome = await scenario.run(options);
  return { name: scenario.name, outcome, seconds: (performance.now() - started) / 1000 };
}

export function recorded(scenario: Scenario, results: Result[]): Scenario {
  const run: Scenario["run"] = async (options) => {
    const result = await measure(scenario, options);
    results.push(result);
    return result.outcome;
  };
  return { ...scenario, run };
}

export function summarize({ outcome, seconds }: Result, seed: number): string {
  const { violations } = outcome;
  const lines = violations.slice(0, MAX_SHOWN).map((violation) => `  VIOLATION ${violation}`);
  if (violations.length > MAX_SHOWN) lines.push(`  and ${violations.length - MAX_SHOWN} more`);
  if (violations.length > 0) lines.push(`  Run again with --seed ${seed}.`);
  lines.push(`  ${listFigures(outcome)}; ${violations.length} violations, ${seconds.toFixed(0)} s`);
  return lines.join("\n");
}

export function tabulate(results: readonly Result[]): string {
  const rows = results.map(({ name, outcome, seconds }) => [
    name,
    listFigures(outcome),
    outcome.violations.length,
    seconds.toFixed(0),
  ]);
  const head = ["fault", "what was done and measured", "violations", "seconds"];
  return markdownTable([head, ["---", "---", "--:", "--:"], ...rows]);
}

export function markdownTable(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Returns the median and the worst of durations in ms. */
export function spread(name: string, values: readonly number[]): Record<string, number> {
  return {
    [`${name}, median (ms)`]: Math.round(median(values)),
    [`${name}, worst (ms)`]: Math.round(Math.max(0, ...values)),
  };
}

export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

export function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}

function listFigures({ figures }: Outcome): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name}: ${value.toLocaleString("en-US")}`)
    .join(", ");
}
