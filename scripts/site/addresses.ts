/**
 * Writes the site's address into the files that users copy. It is `homepage` in package.json.
 *
 *     npm run docs -- addresses
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesIn } from "../pack/files.ts";
import { root } from "../root.ts";
import { withHomepage } from "./links.ts";

for (const file of await filesIn(join(root, "templates"))) {
  const text = readFileSync(file, "utf8");
  const moved = withHomepage(text);
  if (moved !== text) writeFileSync(file, moved);
}
