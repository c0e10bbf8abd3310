/**
 * `npm run test:mutants`: Stryker changes the source, one expression at a time, and expects that a quick test notices.
 * With arguments only these folders, or files such as `poller/mode.ts`. Results stay in coverage/mutants, so a second
 * run tries only mutants that have changed.
 */

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installPeer } from "../peers/install.ts";

/** The used part of `@stryker-mutator/core`. */
interface StrykerCore {
  readonly Stryker: new (options: object) => { runMutationTest(): Promise<MutantResult[]> };
}

interface MutantResult {
  readonly fileName: string;
  readonly status: string;
}

/** The folders of src that carry promises. Each is tried by the quick tests of the test folder of the same name. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  signature: [],
  receiver: [],
  // PostgreSQL has no quick tests, and a copy is made while no bot runs.
  inbox: ["!src/inbox/postgres/**", "!src/inbox/copy.ts", "!src/inbox/sqlite/copy*.ts"],
  dispatcher: [],
  router: [],
  poller: [],
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((path) => !(folderOf(path) in FOLDERS));
if (unknown.length > 0) {
  throw new Error(`${unknown.join(", ")}: not one of ${Object.keys(FOLDERS).join(", ")}`);
}

const { Stryker } = await loadStryker();

const rows = ["| folder | mutants | caught | by a timeout | survived | run by no test | minutes |"];
rows.push("|---|---:|---:|---:|---:|---:|---:|");
for (const path of chosen.length > 0 ? chosen : Object.keys(FOLDERS)) {
  const startedAt = performance.now();
  const results = await new Stryker(optionsFor(path)).runMutationTest();
  rows.push(rowOf(path, results, (performance.now() - startedAt) / 60_000));
}
console.log(rows.join("\n"));

async function loadStryker(): Promise<StrykerCore> {
  const { resolve } = createRequire(join(await installPeer("mutants"), "any.js"));
  return await import(pathToFileURL(resolve("@stryker-mutator/core")).href);
}

function folderOf(path: string): string {
  return path.split("/", 1)[0] ?? "";
}

function optionsFor(path: string): object {
  const folder = folderOf(path);
  const results = `coverage/mutants/${folder}`;
  return {
    mutate: [
      path.endsWith(".ts") ? `src/${path}` : `src/${path}/**/*.ts`,
      ...(FOLDERS[folder] ?? []),
    ],
    // A message may be worded in any way, and an empty text is no SQL.
    mutator: { excludedMutations: ["StringLiteral"] },
    // A value that a module computes once, such as a constant, would need a process for each mutant.
    ignoreStatic: true,
    testRunner: "vitest",
    vitest: {
      ...{ configFile: "test/mutants/vitest.config.ts", dir: `test/${folder}` },
      ...{ pool: "threads", related: false },
    },
    coverageAnalysis: "perTest",
    concurrency: 2,
    timeoutMS: 30_000,
    // TypeScript 7 has no API by which Stryker could read a tsconfig.json.
    tsconfigFile: "none",
    ignorePatterns: ["bench", "coverage", "dist"],
    tempDirName: "coverage/mutants/sandbox",
    incremental: true,
    incrementalFile: `${results}.incremental.json`,
    reporters: ["clear-text", "progress-append-only", "html"],
    clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
    htmlReporter: { fileName: `${results}.html` },
  };
}

function rowOf(path: string, results: readonly MutantResult[], minutes: number): string {
  // A file is reported with what is known of the others of its folder.
  const own = results.filter(({ fileName }) => fileName.includes(`src/${path}`));
  const count = (...statuses: readonly string[]) =>
    own.filter(({ status }) => statuses.includes(status)).length;
  const figures = [
    count("Killed", "Timeout", "Survived", "NoCoverage"),
    count("Killed"),
    count("Timeout"),
    count("Survived"),
    count("NoCoverage"),
    Math.ceil(minutes),
  ];
  return `| ${path} | ${figures.join(" | ")} |`;
}
