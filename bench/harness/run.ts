import { roundsFor, type Wanted } from "./arguments.ts";
import { endChildren, startProfiles, stopProfiles } from "./child.ts";
import { environment } from "./environment.ts";
import type { Named } from "./find.ts";
import { profileFolder, profileTables } from "./profile.ts";
import type { Report } from "./report.ts";
import { resultsOf } from "./results.ts";
import { type Measured, measureRounds } from "./rounds.ts";
import type { Section } from "./table.ts";

/**
 * Runs the benchmarks one after the other. If one fails, records the failure in the report and continues with the next.
 *
 * @param keep called after each benchmark with the report so far
 */
export async function runAll(
  chosen: readonly Named[],
  wanted: Wanted,
  keep: (report: Report) => void,
): Promise<Report> {
  let report = emptyReport(wanted);
  for (const named of chosen) {
    report = await addTo(report, named, wanted);
    keep(report);
  }
  return report;
}

export function emptyReport(wanted: Wanted): Report {
  const at = new Date().toISOString();
  const { quick } = wanted;
  const rounds = roundsFor(wanted);
  return { at, environment: environment(), quick, rounds, sections: [], failures: [] };
}

async function addTo(report: Report, named: Named, wanted: Wanted): Promise<Report> {
  const { name } = named;
  const began = performance.now();
  process.stdout.write(`${name} … `);
  try {
    const section = await measure(named, wanted);
    console.log(secondsSince(began));
    return { ...report, sections: [...report.sections, section] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.log(`failed after ${secondsSince(began)}: ${message}`);
    await endChildren();
    return { ...report, failures: [...report.failures, { benchmark: name, message }] };
  }
}

async function measure({ name, benchmark }: Named, wanted: Wanted): Promise<Section> {
  const { title, warmUpRounds } = benchmark;
  const stage = await benchmark.prepare({ quick: wanted.quick });
  let measured: Measured;
  const folder = wanted.profile ? profileFolder(name) : undefined;
  try {
    const isWarm = () => (folder === undefined ? undefined : startProfiles());
    const rounds = roundsFor(wanted, benchmark);
    measured = await measureRounds(stage.subjects, rounds, warmUpRounds, isWarm);
    if (folder !== undefined) await stopProfiles(folder);
  } catch (error) {
    // After a failure, closing may fail as well. The first error explains the cause.
    await stage.close().catch(() => undefined);
    throw error;
  }
  await stage.close();
  if (folder !== undefined) console.log(`\n${profileTables(folder)}`);
  return { benchmark: name, title, results: resultsOf(stage.figures, measured) };
}

export function secondsSince(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(0)} s`;
}
