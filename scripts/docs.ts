import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { root } from "./root.ts";

/** Programs that write parts of docs/ or of templates/, in the order in which they run. Some only take screenshots. */
const generators = new Map([
  ["reference", "scripts/reference/main.ts"],
  ["tables", "scripts/tables/main.ts"],
  ["dependencies", "scripts/dependencies/main.ts"],
  ["addresses", "scripts/site/addresses.ts"],
  ["screenshots", "scripts/screenshots/main.ts"],
  ["views", "scripts/screenshots/views.ts"],
]);

const programs = new Map([
  ["site", "scripts/site/main.ts"],
  ["site-pictures", "scripts/site/pictures.ts"],
  ...generators,
]);

const USAGE = `npm run docs              builds the documentation site
npm run docs -- NAME...   writes parts of docs/, or "all" of them

Names: ${[...programs.keys()].join(", ")}`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { help: { type: "boolean", default: false } },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const unknown = positionals.find((name) => name !== "all" && !programs.has(name));
if (unknown !== undefined) {
  console.error(
    `Unknown part: ${unknown}. Choose from: ${[...programs.keys(), "all"].join(", ")}.`,
  );
  process.exit(2);
}
const names = new Set(positionals.length === 0 ? ["site"] : positionals);
if (names.has("all")) for (const name of generators.keys()) names.add(name);
for (const [name, file] of programs) {
  if (!names.has(name)) continue;
  console.log(`writing ${name}`);
  const { status } = spawnSync(process.execPath, [file], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
