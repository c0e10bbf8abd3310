/** Writes the API reference from the docstrings. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../root.ts";
import { reference } from "./reference.ts";

const docs = join(root, "docs");
const pages = reference();

await mkdir(join(docs, "reference/api"), { recursive: true });
for (const name of await readdir(join(docs, "reference/api"))) {
  if (!pages.has(`reference/api/${name}`)) await rm(join(docs, "reference/api", name));
}
for (const [path, text] of pages) await writeFile(join(docs, path), text);
console.log(`docs/${[...pages.keys()].join(", docs/")}`);
