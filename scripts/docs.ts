import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { root } from "./compile.ts";

/** Programs that write parts of docs/, and pictures of all views, in the order in which they run. */
const generators = new Map([
  ["reference", "scripts/reference/main.ts"],
  ["configuration", "scripts/configuration/main.ts"],
  ["dependencies", "scripts/dependencies/main.ts"],
  ["tour", "scripts/tour/main.ts"],
  ["screenshots", "scripts/screenshots/main.ts"],
  ["views", "scripts/screenshots/views.ts"],
  ["growth", "bench/plot.ts"],
]);

/**
 * Writes the generated parts of docs/, all of them or the named ones.
 *
 *     npm run docs -- [NAME...]
 */
const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.find((name) => !generators.has(name));
if (unknown !== undefined) {
  console.error(`There is no ${unknown}. Choose from: ${[...generators.keys()].join(", ")}.`);
  process.exit(2);
}
for (const [name, file] of generators) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`writing ${name}`);
  const { status } = spawnSync(process.execPath, [file], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
