import { describe, expect, test } from "vitest";
import { ManualClock } from "../faces/testing.ts";
import { versions } from "../support/postgres/binaries.ts";
import { emptyPlace } from "../support/postgres/open.ts";
import { compareWithModel, modelScenario } from "./model/model.ts";
import { postgresStoreAt } from "./model/postgres-store.ts";
import { openSqliteStore } from "./model/sqlite-store.ts";
import type { OpenStore } from "./model/world.ts";
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

describe("a difference", () => {
  /** Runs against an inbox whose clock has nothing to do with that of the model. */
  async function differ(shrinkMs?: number) {
    let opened = 0;
    const open: OpenStore = (options) => {
      opened += 1;
      return openSqliteStore({ ...options, clock: new ManualClock(0) });
    };
    const told = await compareWithModel({
      ...{ runs: 25, seed: 1, open },
      ...(shrinkMs === undefined ? {} : { shrinkMs }),
    }).catch(String);
    return { told, opened };
  }

  test("is told when the time for making it smaller is over, with what was found until then", async () => {
    const { told, opened } = await differ(0);
    expect(told).toMatch(/Counterexample/);
    expect(opened).toBe(1);
  });

  test("is made smaller until then", async () => {
    const { told, opened } = await differ();
    expect(told).toMatch(/Counterexample: \[.{1,80}\]/);
    expect(opened).toBeGreaterThan(1);
  });
});
