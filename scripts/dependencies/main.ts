import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../compile.ts";
import { bundledPackages } from "../pack/bundled.ts";
import { root } from "../root.ts";
import { complaints, limits, totalBytes } from "./budget.ts";
import { bundledGroups } from "./bundled.ts";
import { dependenciesPage } from "./page.ts";
import { productionTree } from "./tree.ts";

/** Writes docs/internals/dependencies.md, prints the largest packages, and fails if the budget is exceeded. */
const tree = productionTree(root);
const largest = tree.toSorted((one, other) => other.bytes - one.bytes).slice(0, 10);
for (const { name, version, license, bytes } of largest) {
  const kilobytes = `${Math.ceil(bytes / 1000)} kB`.padStart(9);
  console.log(`${`${name} ${version}`.padEnd(30)} ${kilobytes}  ${license}`);
}
console.log(`and ${tree.length - largest.length} smaller ones`);
console.log(
  `${tree.length} of at most ${limits.packages} packages, ${totalBytes(tree)} of at most ${limits.bytes} bytes`,
);
const dist = mkdtempSync(join(tmpdir(), "service-bot-dependencies-"));
const bundled = bundledGroups(await bundledPackages(await compile(dist)));
rmSync(dist, { recursive: true });
writeFileSync(join(root, "docs/internals/dependencies.md"), dependenciesPage(tree, bundled));
for (const complaint of complaints(tree)) {
  console.error(complaint);
  process.exitCode = 1;
}
