import { expect, test } from "vitest";
import { chooseSeed } from "./random.ts";
import type { Scenario } from "./scenario.ts";

/** Twenty times what the longest takes alone: two cores that run others as well need a while. */
const LIMIT_MS = 300_000;

/** The small size of a scenario as a test. SEED=… repeats a run. */
export function testSmall(scenario: Scenario): void {
  const seed = chooseSeed();
  const reason = scenario.whyNot?.();
  if (reason !== undefined) process.stderr.write(`${reason}\n`);
  const run = test.skipIf(reason !== undefined);
  run(`no promise is broken: ${scenario.name} (seed ${seed})`, { timeout: LIMIT_MS }, async () => {
    const outcome = await scenario.run({ size: "small", seed, progress: () => undefined });
    expect(outcome.violations, `run again with SEED=${seed}`).toEqual([]);
  });
}
