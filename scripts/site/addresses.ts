/**
 * Writes the site's address, `homepage` in package.json, into the files that users copy. Also replaces mentions such as
 * `docs/operate/alerts.md`.
 *
 *     npm run docs -- addresses
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesIn } from "../pack/files.ts";
import { root } from "../root.ts";
import { withHomepage, withPageUrls } from "./links.ts";

for (const file of await filesIn(join(root, "templates"))) {
  const text = readFileSync(file, "utf8");
  const moved = withHomepage(withPageUrls(text));
  if (moved !== text) writeFileSync(file, moved);
}
