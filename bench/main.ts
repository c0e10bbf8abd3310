import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { linkTools } from "../tools/install.ts";
import { parseArguments, USAGE } from "./harness/arguments.ts";
import { useAllCores, useLoadCore } from "./harness/cores.ts";
import { insertReport, requireWhole } from "./harness/document.ts";
import { environment, environmentLine } from "./harness/environment.ts";
import { choose, findBenchmarks } from "./harness/find.ts";
import { LATEST, type Report, readReport, writeReport } from "./harness/report.ts";
import { emptyReport, runAll, secondsSince } from "./harness/run.ts";
import { table } from "./harness/table.ts";
import { judge, verdictLines } from "./harness/targets.ts";

const PAGE = new URL("../docs/internals/performance.md", import.meta.url);

async function main(args: readonly string[]): Promise<void> {
  const wanted = parseArguments(args);
  if (wanted.help) {
    console.log(USAGE);
    return;
  }
  const all = await findBenchmarks();
  const names = all.map(({ name }) => name);
  if (wanted.document && wanted.fromLast) {
    document(readReport(), names);
    return;
  }
  // Fail before a run of half an hour, not after it.
  if (wanted.document) insertReport(readFileSync(PAGE, "utf8"), emptyReport(wanted));
  await linkTools(import.meta.dirname);
  if (wanted.profile) useAllCores();
  else useLoadCore();
  const began = performance.now();
  console.log(environmentLine(environment()));
  const report = await runAll(choose(all, wanted.words), wanted, (so) => writeReport(so));
  print(report);
  console.log(`\nSaved every round to ${fileURLToPath(LATEST)}`);
  if (wanted.document) document(report, names);
  console.log(`The whole run took ${secondsSince(began)}`);
}

/** Sets the exit code to 1 if a target is missed or a benchmark failed. */
function print({ sections, failures }: Report): void {
  console.log(`\n${table(sections)}`);
  const verdicts = judge(sections);
  if (verdicts.length > 0) console.log(`\n${verdictLines(verdicts)}`);
  for (const { benchmark, message } of failures) console.log(`\n${benchmark} failed: ${message}`);
  if (failures.length > 0 || verdicts.some(({ met }) => !met)) process.exitCode = 1;
}

function document(report: Report, names: readonly string[]): void {
  requireWhole(report, names);
  writeFileSync(PAGE, insertReport(readFileSync(PAGE, "utf8"), report));
  console.log(`Wrote the figures into ${fileURLToPath(PAGE)}`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
// A failed benchmark may have left handles open.
process.exit();
