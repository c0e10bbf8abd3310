import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endChildren } from "../../bench/harness/child.ts";
import { insertDocument } from "../../bench/harness/document.ts";
import { environment } from "../../bench/harness/environment.ts";
import { chooseSeed } from "../faults/random.ts";
import { parseArguments, requireWhole, USAGE, type Wanted } from "./arguments.ts";
import { documentOf, pins, table, told } from "./document.ts";
import { pictureOf } from "./picture.ts";
import { LATEST, type Report, readReport, writeReport } from "./report.ts";
import type { Sample } from "./sampler.ts";
import { type SoakRun, soak } from "./soak.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

/**
 * `npm run soak`: a bot works for as long as one likes, has bad luck now and then, and must come to rest in all that it
 * takes. Exit code 1 when it did not, or when an event was not answered exactly once.
 */

const PAGE = new URL("../../docs/reliability.md", import.meta.url);
const PICTURE = new URL("../../docs/images/soak.svg", import.meta.url);
const MARK = "soak";

const SAMPLE_MS = 5_000;

/** So many samples are told in one line. */
const TOLD_EVERY = 12;

type Ended = Report & { readonly run: SoakRun };

async function main(args: readonly string[]): Promise<void> {
  const wanted = parseArguments(args);
  if (wanted.help) {
    console.log(USAGE);
    return;
  }
  // Before a run of two hours, not after it.
  if (wanted.document) insertDocument(readFileSync(PAGE, "utf8"), "", MARK);
  const report = wanted.fromLast ? readReport() : await run(wanted);
  const verdict = verdictOf({ ...report, spans: report.run.spans });
  print(report, verdict, wanted.json);
  if (wanted.document) document(report, verdict);
  if (!verdict.holds || report.run.violations.length > 0) process.exitCode = 1;
}

async function run({ minutes, rate, seed: given, json }: Wanted): Promise<Ended> {
  const seed = chooseSeed(given);
  const folder = mkdtempSync(join(tmpdir(), "service-bot-soak-"));
  const began = performance.now();
  const tell = (line: string) => {
    const after = ((performance.now() - began) / 60_000).toFixed(1);
    if (!json) console.log(`${after.padStart(6)} min  ${line}`);
  };
  const samples: Sample[] = [];
  const at = new Date().toISOString();
  const report = { at, environment: environment(), seed, rate, minutes, samples };
  if (!json) console.log(`seed ${seed}, ${rate} events/s, ${minutes} minutes, in ${folder}`);
  const onSample = (sample: Sample) => {
    samples.push(sample);
    if (samples.length % TOLD_EVERY !== 1) return;
    writeReport(report);
    tell(line(sample));
  };
  const seconds = minutes * 60;
  const ended = await soak({ folder, seed, rate, seconds, sampleMs: SAMPLE_MS, tell, onSample });
  writeReport({ ...report, run: ended });
  // What went wrong can be looked into there.
  if (ended.violations.length === 0) rmSync(folder, { recursive: true, force: true });
  return { ...report, run: ended };
}

function line(sample: Sample): string {
  const [rss, heap, file, wal] = [sample.rss, sample.heapUsed, sample.file, sample.wal].map(
    (bytes) => (bytes / 2 ** 20).toFixed(1),
  );
  return [
    `${sample.handled} of ${sample.sent} handled, ${sample.pending} pending, ${sample.deadLetters} dead`,
    `RSS ${rss}, heap ${heap}, file ${file}, WAL ${wal} MiB`,
    `${sample.descriptors} descriptors, ${sample.handles} handles, loop ${sample.loopP99.toFixed(0)} ms, ${sample.mode}`,
  ].join("; ");
}

/** So many violations are shown; more of them say nothing new. */
const SHOWN = 20;

function print(report: Ended, verdict: Verdict, json: boolean): void {
  const { run } = report;
  if (json) {
    console.log(JSON.stringify({ ...report, samples: report.samples.length, verdict }));
    return;
  }
  console.log(`\n${told(run).join("\n")}\n\n${table(verdict.judgements)}\n`);
  if (verdict.pins.length > 0) console.log(`${pins(verdict).join("\n")}\n`);
  for (const violation of run.violations.slice(0, SHOWN)) console.log(`VIOLATION ${violation}`);
  console.log(`Seed ${report.seed}. All samples are in ${fileURLToPath(LATEST)}`);
}

function document(report: Ended, verdict: Verdict): void {
  requireWhole(report.minutes);
  const page = insertDocument(readFileSync(PAGE, "utf8"), documentOf(report, verdict), MARK);
  writeFileSync(PAGE, page);
  writeFileSync(PICTURE, pictureOf(report.samples, report.run.spans, report.minutes));
  console.log(`The figures are in ${fileURLToPath(PAGE)}, the plot in ${fileURLToPath(PICTURE)}`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await endChildren();
}
