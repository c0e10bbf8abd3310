import { expect, test } from "vitest";
import { chooseSeed } from "./random.ts";
import type { Scenario } from "./scenario.ts";

/** The small size of a scenario as a test. SEED=… repeats a run. */
export function testSmall(scenario: Scenario): void {
  const seed = chooseSeed();
  const reason = scenario.whyNot?.();
  if (reason !== undefined) process.stderr.write(`${reason}\n`);
  const run = test.skipIf(reason !== undefined);
  run(`no promise is broken: ${scenario.name} (seed ${seed})`, { timeout: 120_000 }, async () => {
    const outcome = await scenario.run({ size: "small", seed, progress: () => undefined });
    expect(outcome.violations, `run again with SEED=${seed}`).toEqual([]);
  });
}
