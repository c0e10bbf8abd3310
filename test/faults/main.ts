import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { chooseSeed } from "./random.ts";
import { type Result, summary, table } from "./report.ts";
import type { Scenario, Size } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/**
 * Runs the fault scenarios and prints what came of them as a Markdown table.
 *
 *     node test/faults/main.ts [--size small|large] [--only WORDS] [--seed N] [--scale SHARE]
 *
 * Ends with exit code 1 when a promise was broken.
 */
const { values } = parseArgs({
  options: {
    size: { type: "string", default: "large" },
    only: { type: "string", default: "" },
    seed: { type: "string" },
    // A share of the size, to try a large run in short.
    scale: { type: "string", default: "1" },
  },
});

const size = sizeIn(values.size);
const scale = Number(values.scale);
const seed = chooseSeed(values.seed);
const chosen = scenarios.filter(({ name }) => name.includes(values.only));
if (chosen.length === 0) throw new Error(`no scenario has "${values.only}" in its name`);

const machine = `Node ${process.versions.node}, ${availableParallelism()} cores`;
console.log(`seed ${seed}, size ${size}${scale === 1 ? "" : ` × ${scale}`}, ${machine}`);
const results: Result[] = [];
for (const scenario of chosen) {
  const reason = scenario.whyNot?.();
  if (reason !== undefined) {
    console.log(`\n${scenario.name}\n  skipped: ${reason}`);
    continue;
  }
  const result = await runOne(scenario);
  results.push(result);
  console.log(summary(result, seed));
}
console.log(`\n${table(results)}\n`);
console.log(`Seed ${seed}, ${new Date().toISOString()}, ${machine}.`);
process.exitCode = results.some(({ outcome }) => outcome.violations.length > 0) ? 1 : 0;

async function runOne(scenario: Scenario): Promise<Result> {
  console.log(`\n${scenario.name}`);
  const started = performance.now();
  const progress = (line: string) => {
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(`  ${String(seconds).padStart(4)} s  ${line}`);
  };
  const outcome = await scenario.run({ size, seed, scale, progress });
  return { name: scenario.name, outcome, seconds: (performance.now() - started) / 1000 };
}

function sizeIn(text: string): Size {
  if (text === "small" || text === "large") return text;
  throw new Error(`--size must be small or large (got "${text}")`);
}
