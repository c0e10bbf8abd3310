import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { endChildren } from "../../bench/harness/child.ts";
import { environment } from "../../bench/harness/environment.ts";
import { chooseSeed } from "../faults/random.ts";
import type { Sample } from "./sampler.ts";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string" },
    rate: { type: "string", default: "20" },
  },
});
const minutes = Number(values.minutes);
const seed = chooseSeed(values.seed);
const rate = Number(values.rate);
const RESULTS = new URL("results/", import.meta.url);
mkdirSync(RESULTS, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "service-bot-soak-"));
const at = new Date().toISOString();
const samples: Sample[] = [];
const began = performance.now();
const tell = (line: string) => {
  console.log(`${((performance.now() - began) / 60_000).toFixed(1).padStart(6)} min  ${line}`);
};
const save = (more: object) =>
  writeFileSync(
    new URL("latest.json", RESULTS),
    JSON.stringify({ at, environment: environment(), seed, rate, minutes, ...more, samples }),
  );
console.log(`seed ${seed}, ${rate} events/s, ${minutes} minutes, in ${folder}`);
try {
  const run = await soak({
    ...{ folder, seed, rate, seconds: minutes * 60, sampleMs: 5_000, tell },
    onSample: (sample) => {
      samples.push(sample);
      if (samples.length % 12 !== 1) return;
      save({});
      const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
      tell(
        `sent ${sample.sent}, handled ${sample.handled}, rss ${mib(sample.rss)}, heap ${mib(sample.heapUsed)}, file ${mib(sample.file)}, WAL ${mib(sample.wal)} MiB, fds ${sample.descriptors}, handles ${sample.handles}, pending ${sample.pending}, dead ${sample.deadLetters}, p99 ${sample.loopP99.toFixed(0)} ms, ${sample.mode}`,
      );
    },
  });
  save({ run });
  console.log(JSON.stringify({ ...run, spans: run.spans.length }, undefined, 2));
} finally {
  await endChildren();
}
