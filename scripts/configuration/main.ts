/** Writes the table of variables in docs/reference/configuration.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { PAGE, withTable } from "./table.ts";

writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8")));
console.log("docs/reference/configuration.md");
