import { expect, test } from "vitest";
import { versions } from "../support/postgres/binaries.ts";
import { emptyPlace } from "../support/postgres/open.ts";
import { compareWithModel, modelScenario } from "./model/model.ts";
import { postgresStoreAt } from "./model/postgres-store.ts";
import { chooseSeed } from "./random.ts";

test("random commands have the same results as in a simple model of the inbox", {
  timeout: 60_000,
}, async () => {
  const seed = chooseSeed();
  const outcome = await modelScenario.run({ size: "small", seed, progress: () => undefined });
  expect(outcome.violations, `SEED=${seed}`).toEqual([]);
  expect(Number(outcome.figures["commands"])).toBeGreaterThan(2_000);
});

test.each(versions)("the same is true of PostgreSQL %s", { timeout: 120_000 }, async (version) => {
  const seed = chooseSeed();
  const { open, close } = await postgresStoreAt(await emptyPlace(version));
  try {
    expect(await compareWithModel({ runs: 25, seed, open }), `SEED=${seed}`).toBeGreaterThan(250);
  } finally {
    await close();
  }
});
