import { expect, test } from "vitest";
import { chooseSeed } from "../random.ts";
import { judgeSeries, type Sample } from "./series.ts";
import { soak } from "./soak.ts";

const seed = chooseSeed();

test(`a few seconds of everything: each event is handled once, and the hopeless event is discarded (seed ${seed})`, {
  timeout: 120_000,
}, async () => {
  const lines: string[] = [];
  const scenario = soak({ rate: 60, seconds: 2, atLeast: 120, sampleMs: 200 });
  const progress = (line: string) => void lines.push(line);
  const { violations, figures } = await scenario.run({ size: "small", seed, progress });
  expect(violations, `run again with SEED=${seed}`).toEqual([]);
  expect(figures).toMatchObject({ hopeless: 1, discarded: 1 });
  expect(figures["events"]).toBeGreaterThanOrEqual(120);
  // At least one event needs an operator's retry.
  expect(figures["retried"]).toBeGreaterThanOrEqual(1);
  expect(lines.filter((line) => line.endsWith(" begins"))).toHaveLength(10);
  expect(lines.filter((line) => line.endsWith(" ends"))).toHaveLength(10);
});

test("a memory leak is found in noise, and a plateau is not reported as one", () => {
  const noise = (at: number) => 100 + ((at * 7_919) % 60);
  const run = (leak: number) =>
    Array.from({ length: 1_440 }, (_, nth): Sample => {
      const at = nth * 5;
      const rss = (noise(at) + leak * at) * 2 ** 20;
      const rest = {
        heapUsed: 0,
        external: 0,
        file: 0,
        wal: 0,
        handles: 0,
        loopP99: 0,
        pending: 0,
      };
      return { at, rss, ...rest, deadLetters: 0, mode: "auditing" };
    });
  expect(judgeSeries(run(0), [], 7_200).violations).toEqual([]);
  expect(judgeSeries(run(0.01), [], 7_200).violations).toEqual([
    expect.stringMatching(/^rises: memory of/),
  ]);
});
