import { expect, test } from "vitest";
import { ManualClock } from "../faces/testing.ts";
import { compareWithModel } from "./model/model.ts";
import { openSqliteStore } from "./model/sqlite-store.ts";
import { chooseSeed } from "./random.ts";

/** A random run takes seconds alone, and ten times as long beside other tests. */
const TIMEOUT_MS = 120_000;

test("random commands have the same results in SQLite as in a simple model of the inbox", {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = chooseSeed();
  const commands = await compareWithModel({ runs: 50, seed, open: openSqliteStore });
  expect(commands, `SEED=${seed}`).toBeGreaterThan(500);
});

test("an inbox that differs from the model is found, and the commands are shown", async () => {
  // This clock runs independently of the model's, so the results differ.
  const differing = compareWithModel({
    ...{ runs: 25, seed: 1, shrinkMs: 0 },
    open: (options) => openSqliteStore({ ...options, clock: new ManualClock(0) }),
  });
  await expect(differing).rejects.toThrow(/Counterexample/);
});
