/** Writes the tables of docs/ that are generated from the code, and the code that the guides quote. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { withQuotes } from "./quotes.ts";
import { withRows } from "./table.ts";
import { docsTables } from "./tables.ts";

function rewrite(page: string, change: (text: string) => string): void {
  const path = join(root, page);
  writeFileSync(path, change(readFileSync(path, "utf8")));
  console.log(page);
}

for (const table of docsTables) rewrite(table.page, (text) => withRows(text, table));
const guides = readdirSync(join(root, "docs/guides"));
for (const guide of guides) rewrite(join("docs/guides", guide), withQuotes);
