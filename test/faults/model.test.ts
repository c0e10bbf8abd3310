import { expect, test } from "vitest";
import { modelScenario } from "./model/model.ts";
import { chooseSeed } from "./random.ts";

test("random commands have the same results as in a simple model of the inbox", {
  timeout: 60_000,
}, async () => {
  const seed = chooseSeed();
  const outcome = await modelScenario.run({ size: "small", seed, progress: () => undefined });
  expect(outcome.violations, `SEED=${seed}`).toEqual([]);
  expect(Number(outcome.figures["commands"])).toBeGreaterThan(2_000);
});
