import { expect, test } from "vitest";
import { chooseSeed } from "../faults/random.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Sample } from "./sampler.ts";
import { soak } from "./soak.ts";

test("a few seconds of everything: each event is answered once, and the hopeless one is discarded", {
  timeout: 180_000,
}, async () => {
  const seed = chooseSeed();
  const samples: Sample[] = [];
  const told: string[] = [];
  const run = await soak({
    ...{ folder: temporaryFolder(), seed, rate: 100, seconds: 3, atLeast: 300 },
    ...{ sampleMs: 200, onSample: (sample) => samples.push(sample) },
    tell: (line) => told.push(line),
  });
  expect(run.violations, `run again with SEED=${seed}`).toEqual([]);
  expect(run.events).toBeGreaterThanOrEqual(300);
  expect(run).toMatchObject({ answered: run.events - 1, hopeless: 1 });
  // One is stubborn until a person retries it.
  expect(run.decided).toMatchObject({ discarded: 1 });
  expect(run.decided.retried).toBeGreaterThanOrEqual(1);
  for (const { kind } of run.spans) {
    expect(told).toEqual(expect.arrayContaining([`${kind} begins`, `${kind} ends`]));
  }
  const last = samples.at(-1);
  expect(last).toMatchObject({ pending: 0, deadLetters: 0, sent: expect.any(Number) });
  expect(last?.wal).toBeGreaterThan(0);
});
