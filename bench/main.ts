import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { installDependencies } from "../scripts/registry/install.ts";
import { parseArguments, USAGE, type Wanted } from "./harness/arguments.ts";
import { environment, environmentLine } from "./harness/environment.ts";
import { choose, findBenchmarks, type Named } from "./harness/find.ts";
import { resultsOf } from "./harness/results.ts";
import { measureRounds } from "./harness/rounds.ts";
import { type Section, table } from "./harness/table.ts";
import { judge, verdictLines } from "./harness/targets.ts";

const folder = new URL("./", import.meta.url);

async function main(args: readonly string[]): Promise<void> {
  const wanted = parseArguments(args);
  if (wanted.help) {
    console.log(USAGE);
    return;
  }
  installDependencies(folder);
  const chosen = choose(await findBenchmarks(), wanted.words);
  const where = environment();
  console.log(environmentLine(where));
  const sections: Section[] = [];
  for (const named of chosen) sections.push(await measure(named, wanted));
  console.log(`\n${table(sections)}\n`);
  const file = new URL("results/latest.json", folder);
  mkdirSync(new URL("./", file), { recursive: true });
  const { quick, rounds } = wanted;
  const report = { at: new Date().toISOString(), environment: where, quick, rounds, sections };
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`All rounds are in ${fileURLToPath(file)}`);
  const verdicts = judge(sections);
  if (verdicts.length === 0) return;
  console.log(`\n${verdictLines(verdicts)}`);
  if (verdicts.some(({ met }) => !met)) process.exitCode = 1;
}

async function measure({ name, benchmark }: Named, { quick, rounds }: Wanted): Promise<Section> {
  const began = performance.now();
  process.stdout.write(`${name} … `);
  const stage = await benchmark.prepare({ quick });
  try {
    const measured = await measureRounds(stage.subjects, rounds);
    console.log(`${((performance.now() - began) / 1000).toFixed(0)} s`);
    return { benchmark: name, title: benchmark.title, results: resultsOf(stage.figures, measured) };
  } finally {
    await stage.close();
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
