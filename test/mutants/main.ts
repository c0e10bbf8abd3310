/**
 * Runs `npm run test:mutants`: Stryker changes one expression at a time, and a quick test must fail.
 * Arguments limit the run to folders, or files such as `poller/mode.ts`. Results stay in coverage/mutants, so the next
 * run tries only changed mutants.
 */

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installTools } from "../../tools/install.ts";

/** The part of `@stryker-mutator/core` that this script uses. */
interface StrykerCore {
  readonly Stryker: new (options: object) => { runMutationTest(): Promise<MutantResult[]> };
}

interface MutantResult {
  readonly fileName: string;
  readonly status: string;
}

/**
 * Folders in src that implement promises. Quick tests in the test folder of the same name must detect their mutants.
 */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  signature: [],
  receiver: [],
  // PostgreSQL has no quick tests, and a copy only runs while no bot does.
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
  const { resolve } = createRequire(join(await installTools(), "any.js"));
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
    // The wording of a message may change, and an empty string is not valid SQL.
    mutator: { excludedMutations: ["StringLiteral"] },
    // A value that is computed once per module, such as a constant, would need a process per mutant.
    ignoreStatic: true,
    testRunner: "vitest",
    vitest: {
      ...{ configFile: "test/mutants/vitest.config.ts", dir: `test/${folder}` },
      ...{ pool: "threads", related: false },
    },
    coverageAnalysis: "perTest",
    concurrency: 2,
    timeoutMS: 30_000,
    // Stryker cannot read tsconfig.json, because TypeScript 7 has no API for that.
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
  // Stryker also reports earlier results for other files in the folder.
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
