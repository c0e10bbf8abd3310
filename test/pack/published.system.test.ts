import { readdirSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allowedLicences } from "../../scripts/dependencies/budget.ts";
import { lockedPackages } from "../../scripts/dependencies/lockfile.ts";
import { packBoth, packScaffolder } from "../../scripts/pack/packages.ts";
import { readTar, type TarEntry } from "../../scripts/pack/read-tar.ts";
import { SBOM_FILE } from "../../scripts/pack/sbom.ts";
import type { Packed } from "../../scripts/pack/stage.ts";
import { entryPoints } from "../../scripts/reference/reference.ts";
import { exportedBy } from "../../scripts/reference/surface.ts";
import { installTools } from "../../tools/install.ts";
import { run, stores, templates } from "../faces/create.ts";
import { linkProblems, relativeLinks } from "../site/site-links.ts";
import { nodeOlderThanBots } from "../support/older-node.ts";
import { useTool } from "../support/tool.ts";
import { exportedNames } from "./exported-names.ts";
import { unpack } from "./unpack.ts";

const root = join(import.meta.dirname, "../..");

/** The page, which is built for browsers. Path relative to src. */
const PORTAL = "platform/portal/";

/** The used part of CycloneDX's own library. */
interface CycloneDx {
  readonly Spec: { readonly Version: { readonly v1dot6: string } };
  readonly Validation: {
    readonly JsonStrictValidator: new (
      version: string,
    ) => {
      /** Resolves to null if the text is valid. */
      validate(text: string): Promise<unknown>;
    };
  };
}

const publint = useTool("publint");
const cyclonedx: CycloneDx = createRequire(join(await installTools(), "any.js"))(
  "@cyclonedx/cyclonedx-library",
);

describe("what would be published", { timeout: 120_000 }, () => {
  let folder: string;
  let library: Packed;
  let scaffolder: Packed;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "published "));
    const packed = await packBoth(folder);
    const named = (name: string) => packed.find((one) => one.name === name) as Packed;
    [library, scaffolder] = [named("service-bot"), named("create-service-bot")];
  }, 120_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("both packages have the version of the checkout", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    expect([library.version, scaffolder.version]).toEqual([version, version]);
  });

  test("both say what they are, and name no address but the site's", async () => {
    const { homepage } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    for (const { path } of [library, scaffolder]) {
      const { description, keywords, ...rest } = await manifestIn(path);
      expect(description).toMatch(/bot/);
      expect(keywords).toContain("bot");
      expect(rest).toMatchObject({ homepage });
      for (const field of ["bugs", "repository"]) expect(rest).not.toHaveProperty(field);
    }
  });

  test("every page that a packed text names is a URL of the site, and exists", async () => {
    let urls = 0;
    for (const packed of [library, scaffolder]) {
      const { homepage } = await manifestIn(packed.path);
      for (const [path, { text }] of readTar(await readFile(packed.path))) {
        // Licences of other projects.
        if (path.endsWith("/THIRD-PARTY.md")) continue;
        expect(linkProblems(text), path).toEqual([]);
        if (/^package\/\w+\.md$/.test(path)) expect(relativeLinks(text), path).toEqual([]);
        urls += text.split(`${homepage}/`).length - 1;
      }
    }
    expect(urls).toBeGreaterThan(30);
  });

  test("publint has no complaint", async () => {
    for (const { path } of [library, scaffolder]) {
      const { code, output } = await publint.run(["run", path, "--strict"]);
      expect({ code, output }).toMatchObject({
        code: 0,
        output: expect.stringContaining("All good"),
      });
    }
  });

  test("no install script, and nothing to install beside the scaffolder", async () => {
    for (const { path } of [library, scaffolder]) {
      expect(await manifestIn(path)).not.toHaveProperty("scripts");
    }
    const { dependencies, peerDependenciesMeta } = await manifestIn(library.path);
    expect(dependencies).not.toHaveProperty("pg");
    expect(peerDependenciesMeta.pg).toEqual({ optional: true });
    const kinds = Object.keys(await manifestIn(scaffolder.path));
    expect(kinds.filter((kind) => /dependencies/i.test(kind))).toEqual([]);
  });

  test("zod is one copy, which the bot shares with its author", async () => {
    const files = readTar(await readFile(library.path));
    expect((await manifestIn(library.path)).dependencies).toHaveProperty("zod");
    const code = [...files].filter(([path]) => path.endsWith(".js"));
    const pathsWith = (fits: RegExp) =>
      code.filter(([, { text }]) => fits.test(text)).map(([path]) => path);
    expect(pathsWith(/from "zod"/)).not.toEqual([]);
    expect(pathsWith(/Invalid input: expected/)).toEqual([]);
  });

  test("each bundled package has the text of its licence, and so has each package that it holds", async () => {
    for (const { path } of [library, scaffolder]) {
      const notices = readTar(await readFile(path)).get("package/THIRD-PARTY.md")?.text ?? "";
      const sections = notices.split(/^##+ /m).slice(1);
      expect(sections.length).toBeGreaterThan(0);
      for (const section of sections) {
        const [title = "", ...text] = section.split("\n");
        expect(title).toMatch(/^\S+ [\d.]+ \(\S+\)/);
        expect(text.join("\n"), title).toMatch(
          /^ {4}.*(?:Copyright|Permission is hereby granted)/m,
        );
      }
    }
  });

  test("the packages that the MCP SDK was bundled with are among them", async () => {
    const notices = readTar(await readFile(library.path)).get("package/THIRD-PARTY.md")?.text ?? "";
    const held = [...notices.matchAll(/^### (\S+) [\d.]+.*, in @modelcontextprotocol\/server$/gm)];
    expect(held.map(([, name]) => name)).toEqual(
      expect.arrayContaining(["ajv", "ajv-formats", "content-type", "fast-uri"]),
    );
    expect(notices).not.toContain("@cfworker");
  });

  test("the bill of materials fits the schema of its format, and lists what is bundled", async () => {
    const validator = new cyclonedx.Validation.JsonStrictValidator(cyclonedx.Spec.Version.v1dot6);
    for (const { path, name, version } of [library, scaffolder]) {
      const files = readTar(await readFile(path));
      expect((await manifestIn(path)).files).toContain(SBOM_FILE);
      const sbom = files.get(`package/${SBOM_FILE}`)?.text ?? "";
      expect(await validator.validate(sbom)).toBeNull();
      // Positive control.
      expect(await validator.validate(sbom.replace("SHA-512", "SHA-0"))).not.toBeNull();
      const { metadata, components } = JSON.parse(sbom);
      expect(metadata.component).toMatchObject({ name, version });
      const notices = files.get("package/THIRD-PARTY.md")?.text ?? "";
      const titles = [...notices.matchAll(/^##+ (\S+) ([\d.]+) \((\S+)\)/gm)];
      const listed = titles.map(
        ([, bundled, number, license]) => `${bundled} ${number} ${license}`,
      );
      expect(components.map(lineOf).sort()).toEqual(listed.sort());
      const licenses = components.map(({ licenses: [one] }: Component) => one?.license.id);
      expect(licenses.filter((id: string) => !allowedLicences.includes(id))).toEqual([]);
    }
  });

  test("the bill of materials has the hashes of the packages that were installed to be bundled", async () => {
    const locked = new Map(lockedPackages(root).map(({ name, integrity }) => [name, integrity]));
    const sbom = readTar(await readFile(library.path)).get(`package/${SBOM_FILE}`)?.text ?? "";
    const components: readonly Component[] = JSON.parse(sbom).components;
    const hashed = components.filter(({ hashes }) => hashes !== undefined);
    expect(hashed.map(nameOf)).toContain("@modelcontextprotocol/server");
    for (const component of hashed) {
      const hash = Buffer.from(component.hashes?.[0]?.content ?? "", "hex").toString("base64");
      expect(`sha512-${hash}`).toBe(locked.get(nameOf(component)));
    }
  });

  test("a repository is named where one is given, as provenance asks", async () => {
    const repository = "https://example.org/a/b";
    const { path } = await packScaffolder(join(folder, "named"), { repository });
    expect((await manifestIn(path)).repository).toEqual({
      type: "git",
      url: "git+https://example.org/a/b.git",
    });
  });

  test("what those who run bots take is in the library, and not in the scaffolder", async () => {
    const paths = async ({ path }: Packed) => [...readTar(await readFile(path)).keys()];
    expect(await paths(library)).toEqual(
      expect.arrayContaining([
        "package/operations/alerts.test.yml",
        "package/operations/grafana-dashboard.json",
        "package/operations/service-bot@.service",
        "package/operations/kubernetes/sqlite.yaml",
        "package/operations/kubernetes/postgres.yaml",
      ]),
    );
    expect((await paths(scaffolder)).filter((path) => path.includes("operations"))).toEqual([]);
  });

  test("the scaffolder is its bundle and the templates, and nothing of the library", async () => {
    const paths = [...readTar(await readFile(scaffolder.path)).keys()];
    const others = paths.filter((path) => !/^package\/(?:templates|dist)\//.test(path));
    expect(others.sort()).toEqual([
      "package/LICENSE",
      "package/README.md",
      "package/THIRD-PARTY.md",
      "package/create-bot.js",
      "package/package.json",
      "package/sbom.cdx.json",
    ]);
    for (const template of templates) {
      expect(paths).toContain(`package/templates/${template}/_gitignore`);
    }
  });

  test("each entry exports the names of its source, which the report of the public surface lists", async () => {
    const names = entryPoints().map((point) => [point.name, exportedBy(point)]);
    expect(await entriesOf(library.path)).toEqual(Object.fromEntries(names));
  });

  describe("the library", () => {
    let entries: ReadonlyMap<string, TarEntry>;
    let manifest: Awaited<ReturnType<typeof manifestIn>>;

    beforeAll(async () => {
      entries = readTar(await readFile(library.path));
      manifest = await manifestIn(library.path);
    });

    test("every file that a module or a declaration imports is there, and no declaration besides", () => {
      const needed = new Set<string>();
      for (const target of Object.values<string | { types: string }>(manifest.exports)) {
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

    test("what the code reads at run time is there too", () => {
      const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
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

    test("package.json contains nothing that is only for development", async () => {
      const own = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
      for (const field of [
        "name",
        "version",
        "type",
        "engines",
        "bin",
        "exports",
        "dependencies",
      ]) {
        expect(manifest[field], field).toEqual(own[field]);
      }
      for (const field of ["devDependencies", "scripts", "allowScripts"]) {
        expect(manifest, field).not.toHaveProperty(field);
      }
    });

    test("every command is executable and has a shebang", () => {
      for (const path of Object.values<string>(manifest.bin)) {
        const command = entries.get(`package/${path}`);
        expect(command?.text).toMatch(/^#!\/usr\/bin\/env node\n/);
        expect((command?.mode ?? 0) & 0o111).toBe(0o111);
      }
    });
  });

  describe("npm create makes what a checkout makes", () => {
    let installed: string;

    beforeAll(async () => {
      installed = join(folder, "installed");
      await unpack(scaffolder.path, installed);
    });

    const choices = templates.flatMap((template) => stores.map((store) => [template, store]));
    test.each(choices)("%s with %s, byte for byte", async (template, store) => {
      const argv = ["--template", template, "--store", store, "--service-bot", "1.2.3"];
      const published = await made(join(installed, "create-bot.js"), argv);
      expect(published.size).toBeGreaterThan(5);
      expect(published).toEqual(await made(join(root, "create-bot.js"), argv));
    });

    test("and depends on the version that it was published with", async () => {
      const files = await made(join(installed, "create-bot.js"), []);
      const { dependencies } = JSON.parse(files.get("package.json") ?? "");
      expect(dependencies["service-bot"]).toBe(`^${scaffolder.version}`);
    });

    const node = nodeOlderThanBots();
    test.skipIf(node === undefined)("on a Node that is too old for bots, too", async () => {
      const files = await made(join(installed, "create-bot.js"), [], node);
      expect(JSON.parse(files.get("package.json") ?? "").devDependencies.node).toBe("^24.0.0");
    });
  });
});

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly content: string }[];
  readonly licenses: readonly { readonly license: { readonly id: string } }[];
}

function nameOf({ group, name }: Component): string {
  return group === undefined ? name : `${group}/${name}`;
}

function lineOf(component: Component): string {
  const { version, purl, licenses } = component;
  expect(purl).toBe(`pkg:npm/${nameOf(component).replace("@", "%40")}@${version}`);
  return `${nameOf(component)} ${version} ${licenses[0]?.license.id}`;
}

async function manifestIn(tarball: string) {
  return JSON.parse(readTar(await readFile(tarball)).get("package/package.json")?.text ?? "");
}

async function entriesOf(tarball: string): Promise<Record<string, string[]>> {
  const files = readTar(await readFile(tarball));
  const { exports }: { exports: Record<string, string | { types: string }> } =
    await manifestIn(tarball);
  return Object.fromEntries(
    Object.entries(exports).flatMap(([entry, target]) => {
      if (typeof target === "string") return [];
      const text = files.get(target.types.replace("./", "package/"))?.text ?? "";
      return [[entry.replace(".", "service-bot"), exportedNames(text)]];
    }),
  );
}

async function made(
  script: string,
  argv: readonly string[],
  node = process.execPath,
): Promise<ReadonlyMap<string, string>> {
  const cwd = await mkdtemp(join(tmpdir(), "made "));
  try {
    const args = [script, "bot", "--yes", "--no-install", "--no-git", ...argv];
    const { code, output } = await run(node, args, { cwd, env: process.env });
    expect(code, output).toBe(0);
    const entries = await readdir(join(cwd, "bot"), { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }): Promise<[string, string]> => {
        const path = join(parentPath, name);
        const text = await readFile(path, "utf8");
        return [
          path.slice(join(cwd, "bot/").length).replaceAll("\\", "/"),
          path.endsWith("/.env") ? withoutSecrets(text) : text,
        ];
      });
    return new Map((await Promise.all(files)).sort());
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Removes long random values, because every bot has its own secrets. */
function withoutSecrets(env: string): string {
  return env.replace(/^(\w+=\D*?)[\da-f]{32,}$/gm, "$1…");
}
