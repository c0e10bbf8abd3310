import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Environment } from "./environment.ts";
import type { Section } from "./table.ts";

export interface Failure {
  /** The benchmark's name, for example `ingest/single`. */
  readonly benchmark: string;
  readonly message: string;
}

/** The results so far. The harness saves the report after each benchmark. */
export interface Report {
  /** When the run started, in ISO 8601. */
  readonly at: string;
  readonly environment: Environment;
  readonly quick: boolean;
  /** Rounds per benchmark. With `--quick`, some benchmarks run fewer. */
  readonly rounds: number;
  readonly sections: readonly Section[];
  readonly failures: readonly Failure[];
}

export const LATEST: URL = new URL("../results/latest.json", import.meta.url);

export function writeReport(report: Report, file: URL = LATEST): void {
  mkdirSync(new URL("./", file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

/** @throws {Error} if there is no report */
export function readReport(file: URL = LATEST): Report {
  if (!existsSync(file)) {
    throw new Error(`${fileURLToPath(file)} does not exist. \`npm run bench\` writes it.`);
  }
  // JSON turns NaN into null, and a report contains no other null.
  return JSON.parse(readFileSync(file, "utf8"), (_, value) => value ?? Number.NaN);
}
