import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Environment } from "./environment.ts";
import type { Section } from "./table.ts";

/** A benchmark that did not come to its end. */
export interface Failure {
  /** `area/name`. */
  readonly benchmark: string;
  readonly message: string;
}

/** A run, or as much of it as is over. */
export interface Report {
  /** When it began; ISO 8601. */
  readonly at: string;
  readonly environment: Environment;
  readonly quick: boolean;
  /** Of each benchmark, unless it has fewer with `--quick`. */
  readonly rounds: number;
  readonly sections: readonly Section[];
  readonly failures: readonly Failure[];
}

/** The report of the last run. */
export const LATEST: URL = new URL("../results/latest.json", import.meta.url);

export function writeReport(report: Report, file: URL = LATEST): void {
  mkdirSync(new URL("./", file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

/** @throws {Error} there is none */
export function readReport(file: URL = LATEST): Report {
  if (!existsSync(file)) {
    throw new Error(`There is no ${fileURLToPath(file)}: \`npm run bench\` writes it`);
  }
  // JSON has no NaN, and a report has no null.
  return JSON.parse(readFileSync(file, "utf8"), (_, value) => value ?? Number.NaN);
}
