/**
 * Prepares a version: moves the changes of .changeset/ to CHANGELOG.md, and sets the version. Prints the version, or
 * nothing if there are no changes. Imports no package, because it runs with the right to push.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { readChange } from "./change.ts";
import { withRelease } from "./changelog.ts";

const read = (name: string) => readFileSync(join(root, name), "utf8");
const write = (name: string, text: string) => writeFileSync(join(root, name), text);

const files = globSync(".changeset/*.md", { cwd: root }).sort();
const changes = files.map((name) => readChange(name, read(name)));
if (changes.length > 0) {
  const { version: current } = JSON.parse(read("package.json"));
  const day = new Date().toISOString().slice(0, 10);
  const { changelog, version } = withRelease(read("CHANGELOG.md"), changes, { current, day });
  write("CHANGELOG.md", changelog);
  for (const name of ["package.json", "package-lock.json"]) {
    const manifest = JSON.parse(read(name));
    manifest.version = version;
    if (manifest.packages !== undefined) manifest.packages[""].version = version;
    write(name, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  for (const name of files) rmSync(join(root, name));
  console.log(version);
}
