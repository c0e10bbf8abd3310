import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../compile.ts";
import { reference } from "./reference.ts";

const docs = join(root, "docs");
const pages = reference();

await mkdir(join(docs, "reference"), { recursive: true });
for (const name of await readdir(join(docs, "reference"))) {
  if (!pages.has(`reference/${name}`)) await rm(join(docs, "reference", name));
}
for (const [path, text] of pages) await writeFile(join(docs, path), text);
console.log(`docs/${[...pages.keys()].join(", docs/")}`);
