import { expect, test } from "vitest";
import { chooseSeed } from "./random.ts";
import type { Outcome, Scenario } from "./scenario.ts";

/** In ms. Far more than any scenario takes alone, because two cores run other tests as well. */
const TIMEOUT_MS = 180_000;

/**
 * Runs the small size of a scenario as a test. SEED=… repeats a run.
 *
 * @param judge further expectations. Default: no violations
 */
export function testSmall(
  scenario: Scenario,
  name: string,
  judge?: (outcome: Outcome) => void,
): void {
  const seed = chooseSeed();
  const reason = scenario.whyNot?.();
  if (reason !== undefined) process.stderr.write(`${reason}\n`);
  const run = test.skipIf(reason !== undefined);
  run(`${name} (seed ${seed})`, { timeout: TIMEOUT_MS }, async () => {
    const outcome = await scenario.run({ size: "small", seed, progress: () => undefined });
    if (judge !== undefined) judge(outcome);
    else expect(outcome.violations, `run again with SEED=${seed}`).toEqual([]);
  });
}
