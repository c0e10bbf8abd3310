import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bundle } from "../../scripts/pack/bundle.ts";
import { bundledPackages } from "../../scripts/pack/bundled.ts";
import { sbomOf } from "../../scripts/pack/sbom.ts";
import { thirdPartyNotices } from "../../scripts/pack/third-party.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function bundled(files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries({ "package.json": '{"type":"module"}', ...files })) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const out = join(folder, "dist");
  const modules = await bundle(join(folder, "main.ts"), out);
  const packages = await bundledPackages(modules, join(folder, "licences"));
  const notices = thirdPartyNotices(packages);
  const sbom = sbomOf({ name: "owner", version: "3.2.1", license: "MIT" }, packages);
  const read = (file: string) => readFile(join(out, file), "utf8");
  return { notices, sbom, files: (await readdir(out)).sort(), read };
}

const kit = {
  "node_modules/@some/kit/package.json":
    '{"name":"@some/kit","version":"1.2.3","license":"ISC","type":"module","main":"index.js"}',
  "node_modules/@some/kit/index.js": 'export const word = "from the kit";',
};

describe("the bundle", () => {
  test("holds what it imports, and imports nothing but Node", async () => {
    const { files, read } = await bundled({
      ...kit,
      "node_modules/@some/kit/LICENSE": "Do as you like.",
      "main.ts":
        'import { sep } from "node:path"; import { word } from "@some/kit"; export const main = (): string => word + sep;',
    });
    expect(files).toEqual(["create.js", "package.json"]);
    const code = await read("create.js");
    expect(code).toContain("from the kit");
    expect([...code.matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name)).toEqual([
      "node:path",
    ]);
  });

  test("comes with the licences of the packages in it, and of no others", async () => {
    const { notices } = await bundled({
      ...kit,
      "node_modules/@some/kit/LICENSE": "Do as you like.",
      "node_modules/idle/package.json": '{"name":"idle","version":"1.0.0"}',
      "main.ts": 'export { word } from "@some/kit";',
    });
    expect(notices).toContain("## @some/kit 1.2.3 (ISC)\n\n    Do as you like.\n");
    expect(notices).not.toContain("idle");
  });

  test("is refused if a package has no licence", async () => {
    const main = { "main.ts": 'export { word } from "@some/kit";' };
    await expect(bundled({ ...kit, ...main })).rejects.toThrow("@some/kit 1.2.3 has no licence");
  });

  const store = "//#region ../../node_modules/.pnpm";
  test("comes with the licences of what our own files hold", async () => {
    const files = {
      "main.ts": `${store}/plain@1.0.0/node_modules/plain/index.js\nexport const word = "from plain";`,
    };
    await expect(bundled(files)).rejects.toThrow("plain@1.0.0.txt");
    const { notices } = await bundled({
      ...files,
      "licences/plain@1.0.0.txt": "ISC\n\nKeep it.\n",
    });
    expect(notices).toContain("## plain 1.0.0 (ISC)\n\n    Keep it.\n");
  });

  const holding = {
    ...kit,
    "node_modules/@some/kit/LICENSE": "Do as you like.",
    "node_modules/@some/kit/index.js": [
      `${store}/@deep+held@2.0.0-rc.1/node_modules/@deep/held/index.js`,
      `  ${store}/peered@3.0.1_other@8.18.0/node_modules/peered/index.js`,
      `  ${store}/peered@3.0.1_other@8.18.0/node_modules/peered/more.js`,
      "//#region node_modules/plain/index.js",
      "//#region src/own.ts",
      'export const word = "from the kit";',
      "//#endregion",
    ].join("\n"),
    "main.ts": 'export { word } from "@some/kit";',
  };
  const licences = {
    "licences/@deep+held@2.0.0-rc.1.txt": "ISC\n\nHeld deep.\n",
    "licences/peered@3.0.1.txt": "MIT\n\nKeep this text.\n",
    "licences/plain.txt": "0BSD\n\nOf any version.\n",
  };

  test("has the licence of each package that a package holds in turn, by the marks in its files", async () => {
    const { notices } = await bundled({ ...holding, ...licences });
    const titles = [...notices.matchAll(/^#+ .+$/gm)].map(([title]) => title);
    expect(titles).toEqual([
      "# Third-party code",
      "## @some/kit 1.2.3 (ISC)",
      "### @deep/held 2.0.0-rc.1 (ISC), in @some/kit",
      "### peered 3.0.1 (MIT), in @some/kit",
      "### plain (0BSD), in @some/kit",
    ]);
    expect(notices).toContain("### peered 3.0.1 (MIT), in @some/kit\n\n    Keep this text.\n");
  });

  test("comes with a bill of materials of them, in which each has a package URL", async () => {
    const { sbom } = await bundled({ ...holding, ...licences });
    const { metadata, components, dependencies } = JSON.parse(sbom);
    expect(metadata.component).toMatchObject({ purl: "pkg:npm/owner@3.2.1" });
    const purls = components.map(({ purl }: { purl: string }) => purl);
    expect(purls).toEqual([
      "pkg:npm/%40some/kit@1.2.3",
      "pkg:npm/%40deep/held@2.0.0-rc.1",
      "pkg:npm/peered@3.0.1",
      "pkg:npm/plain",
    ]);
    expect(components[0]).toMatchObject({
      group: "@some",
      name: "kit",
      version: "1.2.3",
      licenses: [{ license: { id: "ISC" } }],
    });
    const [kit, ...held] = purls;
    expect(dependencies).toEqual([
      { ref: "pkg:npm/owner@3.2.1", dependsOn: [kit] },
      { ref: kit, dependsOn: held },
    ]);
  });

  test("lists a package once in the bill of materials, even if two packages hold it", async () => {
    const other = "node_modules/other";
    const { sbom } = await bundled({
      ...holding,
      ...licences,
      [`${other}/package.json`]:
        '{"name":"other","version":"1.0.0","license":"(MIT OR ISC)","main":"index.js"}',
      [`${other}/LICENSE`]: "Do as you like.",
      [`${other}/index.js`]: "//#region node_modules/plain/index.js\nexports.other = 1;",
      "main.ts": 'export { word } from "@some/kit"; export { other } from "other";',
    });
    const { components } = JSON.parse(sbom);
    const refs = components.map((each: Record<string, unknown>) => each["bom-ref"]);
    expect(refs.filter((ref: string) => ref === "pkg:npm/plain")).toHaveLength(1);
    expect(new Set(refs).size).toBe(refs.length);
    const licensed = components.find(({ name }: { name: string }) => name === "other");
    expect(licensed.licenses).toEqual([{ expression: "(MIT OR ISC)" }]);
  });

  test("is refused with a held package whose licence of that version is not stored", async () => {
    const { "licences/peered@3.0.1.txt": other, ...rest } = licences;
    const files = { ...holding, ...rest, "licences/peered@3.0.0.txt": other };
    await expect(bundled(files)).rejects.toThrow("@some/kit bundles peered 3.0.1");
  });

  test("is refused when something it imports is not there", async () => {
    await expect(bundled({ "main.ts": 'export { x } from "absent";' })).rejects.toThrow(
      /cannot be bundled:[\s\S]*absent/,
    );
  });

  test("keeps what is loaded late in files of their own", async () => {
    const { files } = await bundled({
      "late.ts": "export const late = 1;",
      "main.ts": 'export const main = async () => (await import("./late.ts")).late;',
    });
    expect(files).toEqual(["create.js", "late.js", "package.json"]);
  });
});
