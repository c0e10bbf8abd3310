import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { packagesIn } from "../../scripts/pack/imports.ts";
import { type Declared, refuseUndeclared } from "../../scripts/pack/undeclared.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function check(files: Readonly<Record<string, string>>, declared: Declared): Promise<string> {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return await refuseUndeclared(folder, declared).then(
    () => "",
    (error: Error) => error.message,
  );
}

const declared = { dependencies: { kit: "^1.0.0" }, peerDependencies: { driver: "^1.0.0" } };
const used = { "index.js": 'import "kit";' };

test("a module that needs a package which is not declared is refused", async () => {
  const files = { ...used, "chunks/late.js": 'const late = () => import("stray");' };
  expect(await check(files, declared)).toMatch(/late\.js needs stray\./);
  expect(await check(used, declared)).toBe("");
});

test("a declaration that needs a package which is not declared is refused", async () => {
  const files = { ...used, "index.d.ts": 'export declare const x: import("stray").X;' };
  expect(await check(files, declared)).toMatch(/index\.d\.ts needs stray\./);
});

test("an optional peer is loaded with import() alone, and no declaration needs it", async () => {
  const refused = async (path: string, text: string) => check({ ...used, [path]: text }, declared);
  expect(await refused("a.js", 'await import("driver");')).toBe("");
  expect(await refused("a.js", 'import { x } from "driver";')).toMatch(/needs driver\./);
  expect(await refused("a.js", 'createRequire(import.meta.url)("driver");')).toMatch(/driver/);
  expect(await refused("a.d.ts", 'import type { X } from "driver";')).toMatch(/needs driver\./);
});

test("a dependency that no module needs is refused", async () => {
  expect(await check({ "index.js": "" }, declared)).toMatch(/dependency kit/);
});

test("every way to import or require a package is found, with its scope and without its path", () => {
  const code = `
    import a from "static";
    import "@scope/effect/deep.js";
    import * as b from 'namespace';
    export { c } from "named";
    export * from "all";
    const d = () => import("dynamic");
    const e = import(\`template\`);
    require("required");
    __require("bundled/lib/x.js");
    const load = createRequire$1(import.meta.url);
    load("loaded");
    createRequire(import.meta.url)("created");
    require.resolve("resolved");
    import.meta.resolve("looked-up");
  `;
  const found = packagesIn("index.js", code).map(({ name }) => name);
  expect(found.toSorted()).toEqual(
    [
      ...["static", "@scope/effect", "namespace", "named", "all", "dynamic", "template"],
      ...["required", "bundled", "loaded", "created", "resolved", "looked-up"],
    ].toSorted(),
  );
});

test("every way in which a declaration names a package is found", () => {
  const code = `
    /// <reference types="referenced" />
    import type { A } from "typed";
    import b = require("assigned");
    export declare const c: typeof import("queried");
    export { d } from "reexported";
  `;
  const found = packagesIn("index.d.ts", code).map(({ name }) => name);
  const names = ["referenced", "typed", "assigned", "queried", "reexported"];
  expect(found.toSorted()).toEqual(names.toSorted());
});

test("Node's modules, files, and code in strings are no packages", () => {
  const code = `
    import fs from "fs";
    import { join } from "node:path/posix";
    import "./own.js";
    import "#internal";
    const generated = 'require("in-a-string"); import("in-a-string");';
    // import "in-a-comment";
    requireNode("22.18.0");
  `;
  expect(packagesIn("index.js", code)).toEqual([]);
});
