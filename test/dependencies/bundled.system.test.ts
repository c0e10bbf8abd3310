import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compile } from "../../scripts/compile.ts";
import { bundledGroups } from "../../scripts/dependencies/bundled.ts";
import { dependenciesPage } from "../../scripts/dependencies/page.ts";
import { productionTree } from "../../scripts/dependencies/tree.ts";
import { bundledPackages } from "../../scripts/pack/bundled.ts";
import { root } from "../../scripts/root.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("docs/internals/dependencies.md has a reason for each bundled package (npm run docs -- dependencies)", async () => {
  const bundled = await bundledPackages(await compile(temporaryFolder()));
  const page = readFileSync(join(root, "docs/internals/dependencies.md"), "utf8");
  expect(page).toBe(dependenciesPage(productionTree(root), bundledGroups(bundled)));
  const [one, ...others] = bundled;
  expect(() => bundledGroups(others)).toThrow(one?.name);
  expect(() => bundledGroups(bundled.map((each) => ({ ...each, name: "new" })))).toThrow("new");
}, 60_000);
