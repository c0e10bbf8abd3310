import { parseArgs } from "node:util";
import { chooseSeed } from "../../faults/random.ts";
import { table } from "./report.ts";
import { type Outcome, runSchedule, seedsFrom } from "./run.ts";

/**
 * Simulates outages of the webhook, the bot and the API, and prints the figures as a Markdown table.
 *
 *     node test/poller/simulation/main.ts [--schedules N] [--seed N] [--only SEED]
 *
 * `--only` runs the one schedule that a violation named. Ends with exit code 1 when a promise was broken.
 */
const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "5000" },
    seed: { type: "string" },
    only: { type: "string" },
  },
});

const seed = chooseSeed(values.seed);
const seeds =
  values.only === undefined ? seedsFrom(seed, Number(values.schedules)) : [Number(values.only)];
const started = performance.now();
console.log(`seed ${seed}, ${seeds.length} schedules`);
const outcomes: Outcome[] = [];
for (const one of seeds) {
  const outcome = await runSchedule(one);
  outcomes.push(outcome);
  if (values.only !== undefined) console.log(outcome.schedule);
  for (const violation of outcome.violations.slice(0, 3))
    console.log(`--only ${one}: ${violation}`);
}
console.log(`\n${table(outcomes)}\n`);
const took = ((performance.now() - started) / 1000).toFixed(0);
console.log(`Seed ${seed}, ${new Date().toISOString().slice(0, 10)}, ${took} s.`);
process.exitCode = outcomes.some(({ violations }) => violations.length > 0) ? 1 : 0;
