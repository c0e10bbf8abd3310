/** Writes the reference from the docstrings, and the link from each page to the next one. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../compile.ts";
import { readPath, withNextLine } from "./path.ts";
import { reference } from "./reference.ts";

const docs = join(root, "docs");
const pages = reference();

await mkdir(join(docs, "reference"), { recursive: true });
for (const name of await readdir(join(docs, "reference"))) {
  if (!pages.has(`reference/${name}`)) await rm(join(docs, "reference", name));
}
for (const [path, text] of pages) await writeFile(join(docs, path), text);
console.log(`docs/${[...pages.keys()].join(", docs/")}`);

for (const { file } of readPath()) {
  const text = await readFile(join(docs, file), "utf8");
  const linked = withNextLine(text, file);
  if (linked !== text) await writeFile(join(docs, file), linked);
}
