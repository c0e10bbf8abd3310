import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { complaints, limits } from "../../scripts/dependencies/budget.ts";
import { installedSection } from "../../scripts/dependencies/page.ts";
import { productionTree } from "../../scripts/dependencies/tree.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = join(import.meta.dirname, "../..");
const tree = productionTree(root);

test("a bot's dependencies are within budget, have permitted licences, and run no script", () => {
  expect(complaints(tree)).toEqual([]);
});

test("it has what package.json asks for, and nothing of development", () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const names = tree.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  for (const name of ["vitest", "typescript", "pg", "sharp"]) expect(names).not.toContain(name);
});

test("docs/internals/dependencies.md has its number of packages and their size (npm run docs -- dependencies)", () => {
  const page = readFileSync(join(root, "docs/internals/dependencies.md"), "utf8");
  expect(page.slice(0, page.indexOf("\n## "))).toBe(installedSection(tree));
});

const one = { name: "one", version: "1.0.0", license: "MIT", bytes: 1, hasInstallScript: false };

test.each([
  ["more packages", Array(limits.packages + 1).fill(one), "packages of"],
  ["more bytes", [{ ...one, bytes: limits.bytes + 1 }], "bytes of"],
  ["a licence that asks for more", [{ ...one, license: "GPL-3.0-only" }], "GPL-3.0-only"],
  ["a licence that nobody knows", [{ ...one, license: "none" }], "none"],
  ["a script", [{ ...one, hasInstallScript: true }], "runs a script"],
])("%s would be too much", (_, changed, complaint) => {
  expect(complaints(changed)).toEqual([expect.stringContaining(complaint)]);
});

function installed(manifest: object, files: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder();
  const own = { name: "a", version: "1.0.0", license: "MIT", ...manifest };
  const packages = { "": {}, "node_modules/a": { version: "1.0.0" } };
  mkdirSync(join(folder, "node_modules/a"), { recursive: true });
  writeFileSync(
    join(folder, "package-lock.json"),
    JSON.stringify({ lockfileVersion: 3, packages }),
  );
  writeFileSync(join(folder, "node_modules/a/package.json"), JSON.stringify(own));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, "node_modules/a", name), text);
  }
  return folder;
}

test("a script is one that package.json names, or that npm finds by binding.gyp", () => {
  const runs = (...args: Parameters<typeof installed>) =>
    productionTree(installed(...args)).map(({ hasInstallScript }) => hasInstallScript);
  expect(runs({})).toEqual([false]);
  expect(runs({ scripts: { postinstall: "x" } })).toEqual([true]);
  expect(runs({}, { "binding.gyp": "{}" })).toEqual([true]);
  expect(runs({ gypfile: false }, { "binding.gyp": "{}" })).toEqual([false]);
});
