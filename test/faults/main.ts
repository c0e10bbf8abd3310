import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { simulate } from "../poller/simulation/scenario.ts";
import { chooseSeed } from "./random.ts";
import { measure, type Result, summarize, tabulate } from "./report.ts";
import type { Scenario, ScenarioRun } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { soak } from "./soak/soak.ts";

const USAGE = `npx node test/faults/main.ts            [--size small|large] [--only WORDS] [--scale SHARE] [--seed N]
npx node test/faults/main.ts soak       [--minutes 10] [--rate 20] [--seed N]
npx node test/faults/main.ts simulate   [--schedules 5000] [--only SEED] [--seed N]

Inflicts faults on real bots, runs one bot under load for a long time, or simulates webhook outages.
Prints the figures as a Markdown table. The exit code is 1 if any promise is broken.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: "string", default: "large" },
    only: { type: "string", default: "" },
    scale: { type: "string", default: "1" },
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "20" },
    schedules: { type: "string", default: "5000" },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const seed = chooseSeed(values.seed);
const [command = "faults"] = positionals;

if (values.help) console.log(USAGE);
else await main(chooseScenarios());

async function main(chosen: readonly Scenario[]): Promise<void> {
  const { size } = values;
  if (size !== "small" && size !== "large") throw new Error(`--size ${size} is not small or large`);
  const machine = `Node ${process.versions.node}, ${availableParallelism()} cores`;
  console.log(`seed ${seed}, size ${size}, ${machine}`);
  const results: Result[] = [];
  for (const scenario of chosen) {
    console.log(`\n${scenario.name}`);
    const reason = scenario.whyNot?.();
    if (reason !== undefined) {
      console.log(`  skipped: ${reason}`);
      continue;
    }
    const result = await runOne(scenario, { size, seed, scale: numberOf("scale") });
    results.push(result);
    console.log(summarize(result, seed));
  }
  console.log(`\n${tabulate(results)}\n\nSeed ${seed}, ${new Date().toISOString()}, ${machine}.`);
  process.exitCode = results.some(({ outcome }) => outcome.violations.length > 0) ? 1 : 0;
}

async function runOne(scenario: Scenario, options: Omit<ScenarioRun, "progress">): Promise<Result> {
  const started = performance.now();
  const progress = (line: string) => {
    const seconds = (performance.now() - started) / 1000;
    console.log(`  ${seconds.toFixed(0).padStart(4)} s  ${line}`);
  };
  return await measure(scenario, { ...options, progress });
}

function chooseScenarios(): readonly Scenario[] {
  if (command === "simulate") {
    const only = values.only === "" ? undefined : Number(values.only);
    return [simulate({ schedules: numberOf("schedules"), only })];
  }
  if (command === "soak") {
    return [soak({ seconds: numberOf("minutes") * 60, rate: numberOf("rate") })];
  }
  if (command !== "faults") throw new Error(`unknown command ${command}\n\n${USAGE}`);
  const chosen = scenarios.filter(({ name }) => name.includes(values.only));
  if (chosen.length === 0) throw new Error(`no scenario has "${values.only}" in its name`);
  return chosen;
}

function numberOf(name: "scale" | "minutes" | "rate" | "schedules"): number {
  const value = Number(values[name]);
  if (value > 0) return value;
  throw new Error(`--${name} must be a number above 0 (got "${values[name]}")`);
}
