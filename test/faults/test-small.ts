import { expect, test } from "vitest";
import { chooseSeed } from "./random.ts";
import type { Outcome, Scenario, Size } from "./scenario.ts";

const size: Size = process.env.SIZE === "large" ? "large" : "small";

/**
 * Test timeout, in ms. Far more than any scenario needs alone, because other tests use the machine's two cores as well.
 */
const TIMEOUT_MS: Readonly<Record<Size, number>> = { small: 300_000, large: 3_600_000 };

/**
 * Runs a scenario's small size as a test. SEED=… repeats a run; SIZE=large runs the large size.
 *
 * @param judge makes further checks on the outcome. Default: expects no violations
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
  run(`${name} (seed ${seed})`, { timeout: TIMEOUT_MS[size] }, async () => {
    const outcome = await scenario.run({ size, seed, progress: () => undefined });
    if (judge !== undefined) judge(outcome);
    else expect(outcome.violations, `run again with SEED=${seed}`).toEqual([]);
  });
}
