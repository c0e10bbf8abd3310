import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { PackCache } from "../../scripts/pack/cache.ts";
import { type PackageImport, packagesIn } from "../../scripts/pack/imports.ts";
import { readTar, type TarEntry } from "../../scripts/pack/read-tar.ts";
import { root } from "../create/harness.ts";

/** The page, which is built for browsers. Path relative to src. */
const PORTAL = "platform/portal/";

describe("the packed library", { timeout: 120_000 }, () => {
  let entries: ReadonlyMap<string, TarEntry>;
  let sources: string[];

  beforeAll(async () => {
    sources = (await readdir(join(root, "src"), { recursive: true })).filter(
      (path) => !path.startsWith("create"),
    );
    const folder = await mkdtemp(join(tmpdir(), "pack "));
    entries = readTar(await readFile(await new PackCache().packServiceBot(folder)));
    await rm(folder, { recursive: true });
  }, 120_000);

  test("every file that a module or a declaration imports is there, and no declaration besides", () => {
    const { exports } = JSON.parse(entries.get("package/package.json")?.text ?? "");
    const needed = new Set<string>();
    for (const target of Object.values<string | { types: string }>(exports)) {
      if (typeof target === "object") follow(target.types.replace("./", "package/"), needed);
    }
    const declarations = [...entries.keys()].filter((path) => path.endsWith(".d.ts"));
    expect(declarations.sort()).toEqual([...needed].sort());
    const modules = [...entries.keys()].filter((path) =>
      /dist\/(?!platform\/portal).*\.js$/.test(path),
    );
    expect(modules.length).toBeGreaterThan(10);
    for (const path of modules) {
      for (const imported of importsOf(path)) expect(entries.has(imported), imported).toBe(true);
    }
  });

  function follow(path: string, needed: Set<string>): void {
    if (needed.has(path)) return;
    needed.add(path);
    for (const imported of importsOf(path)) follow(imported.replace(/\.js$/, ".d.ts"), needed);
  }

  function importsOf(path: string): string[] {
    const text = entries.get(path)?.text ?? "";
    const asked = text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g);
    return [...asked].map(([, name = ""]) => posix.join(dirname(path), name));
  }

  test("its modules and declarations need only packages that its manifest declares", () => {
    const { dependencies, peerDependencies } = JSON.parse(
      entries.get("package/package.json")?.text ?? "",
    );
    const needed = [...entries]
      .filter(([path]) => /dist\/(?!platform\/portal).*\.(?:js|d\.ts)$/.test(path))
      .flatMap(([path, { text }]) => packagesIn(path, text));
    const isDeclared = ({ name, isLazy }: PackageImport) =>
      name in dependencies || (isLazy && name in peerDependencies);
    expect(needed.filter((each) => !isDeclared(each))).toEqual([]);
    const names = new Set(needed.map(({ name }) => name));
    const declared = Object.keys({ ...dependencies, ...peerDependencies });
    expect([...names].sort()).toEqual(declared.sort());
  });

  test("what the code reads at run time is there too", () => {
    const sql = sources.filter((path) => path.endsWith(".sql"));
    expect(sql.length).toBeGreaterThan(0);
    for (const path of sql) expect(entries.has(`package/dist/${path}`), path).toBe(true);
  });

  test("the portal is there as the page that is served, and not as its sources", () => {
    const page = [...entries.keys()].filter((path) => path.startsWith(`package/dist/${PORTAL}`));
    const names = page.map((path) => path.replace(`package/dist/${PORTAL}static/`, ""));
    expect(names.map((name) => name.replace(/-[\da-f]+/, "")).sort()).toEqual([
      "app.css",
      "app.js",
      "icon.svg",
      "index.html",
    ]);
  });

  test("the scaffolder, templates, examples, tests and TypeScript are not", () => {
    const strays = [...entries.keys()].filter((path) =>
      /dist\/create|templates|examples|\/test\/|(?<!\.d)\.ts$/.test(path),
    );
    expect(strays).toEqual([]);
  });

  test("no module asks for a .ts file", () => {
    for (const [path, { text }] of entries) {
      // The page contains generated bot tests with imports of their own.
      if (path.startsWith(`package/dist/${PORTAL}`)) continue;
      if (/\.(?:js|d\.ts)$/.test(path)) expect(text, path).not.toMatch(/from "\.{1,2}\/[^"]+\.ts"/);
    }
  });

  test("package.json contains nothing that is only for development", async () => {
    const published = JSON.parse(entries.get("package/package.json")?.text ?? "");
    const own = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    for (const field of ["name", "version", "type", "engines", "bin", "exports", "dependencies"]) {
      expect(published[field], field).toEqual(own[field]);
    }
    for (const field of ["devDependencies", "scripts", "allowScripts"]) {
      expect(published, field).not.toHaveProperty(field);
    }
  });

  test("every command is executable and has a shebang", () => {
    const { bin } = JSON.parse(entries.get("package/package.json")?.text ?? "");
    for (const path of Object.values<string>(bin)) {
      const command = entries.get(`package/${path}`);
      expect(command?.text).toMatch(/^#!\/usr\/bin\/env node\n/);
      expect((command?.mode ?? 0) & 0o111).toBe(0o111);
    }
  });

  test("every entry point exists", () => {
    const manifest = JSON.parse(entries.get("package/package.json")?.text ?? "");
    const exports: (string | Record<string, string>)[] = Object.values(manifest.exports);
    const paths = exports.flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry),
    );
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) expect(entries.has(path.replace("./", "package/")), path).toBe(true);
  });
});
