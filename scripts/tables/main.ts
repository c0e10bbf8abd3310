/** Writes the tables of docs/ that are generated from the code. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { withRows } from "./table.ts";
import { docsTables } from "./tables.ts";

for (const table of docsTables) {
  const path = join(root, table.page);
  writeFileSync(path, withRows(readFileSync(path, "utf8"), table));
  console.log(table.page);
}
