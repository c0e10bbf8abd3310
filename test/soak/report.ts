import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Environment } from "../../bench/harness/environment.ts";
import type { Sample } from "./sampler.ts";
import type { SoakRun } from "./soak.ts";

/** A run, as it is kept. */
export interface Report {
  /** When it began: ISO 8601, UTC. */
  readonly at: string;
  readonly environment: Environment;
  readonly seed: number;
  /** Events per second. */
  readonly rate: number;
  readonly minutes: number;
  /** Absent while the run goes on. */
  readonly run?: SoakRun;
  readonly samples: readonly Sample[];
}

/** The last one; git ignores it. */
export const LATEST: URL = new URL("results/latest.json", import.meta.url);

export function writeReport(report: Report): void {
  mkdirSync(new URL("./", LATEST), { recursive: true });
  writeFileSync(LATEST, `${JSON.stringify(report)}\n`);
}

/** @throws {Error} there is none, or its run did not come to its end */
export function readReport(): Report & { readonly run: SoakRun } {
  const report: Report = JSON.parse(readFileSync(LATEST, "utf8"));
  const { run } = report;
  if (run === undefined) throw new Error("the last run did not come to its end");
  return { ...report, run };
}
