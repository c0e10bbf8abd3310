import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Samples } from "./harness/benchmark.ts";
import { useLoadCore } from "./harness/cores.ts";
import { environment, environmentLine } from "./harness/environment.ts";
import { median } from "./harness/results.ts";
import { measureRounds } from "./harness/rounds.ts";
import { lineChart } from "./support/chart.ts";
import { type Rates, StoredInboxes } from "./support/stored.ts";

const STORED = [0, 10_000, 100_000, 1_000_000, 5_000_000];

const COUNT = 20_000;

const ROUNDS = 5;

const PICTURE = new URL("../docs/images/growth.svg", import.meta.url);

/**
 * Measures the points in turn, so that other work on the machine affects all of them equally, and draws the medians.
 */
async function main(): Promise<void> {
  useLoadCore();
  console.log(environmentLine(environment()));
  const inboxes = new StoredInboxes();
  try {
    const subjects = STORED.map((stored) => subject(stored, inboxes.add(stored)));
    const measured = await measureRounds(subjects, ROUNDS);
    const points = (what: keyof Rates) =>
      STORED.map((x) => ({ x, y: median(measured.get(`${what} ${x}`) ?? []) }));
    const series = [
      { name: "stored", points: points("ingest") },
      { name: "dispatched", points: points("dispatch") },
    ];
    for (const { name, points } of series) {
      for (const { x, y } of points) console.log(`${name} with ${x}: ${Math.round(y)} events/s`);
    }
    mkdirSync(new URL("./", PICTURE), { recursive: true });
    const axes = { x: "events in the file before", y: "events per second" };
    writeFileSync(PICTURE, lineChart({ title: "An inbox in SQLite as it grows", axes, series }));
    console.log(`Saved the chart to ${fileURLToPath(PICTURE)}`);
  } finally {
    await inboxes.close();
  }
}

function subject(stored: number, run: (count: number) => Promise<Rates>) {
  return async (): Promise<Samples> => {
    const { ingest, dispatch } = await run(COUNT);
    return { [`ingest ${stored}`]: ingest, [`dispatch ${stored}`]: dispatch };
  };
}

await main();
