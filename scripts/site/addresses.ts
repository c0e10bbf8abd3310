/**
 * Writes the site's address, `homepage` in package.json, into the files that users copy, and into docs/. In the files
 * that users copy, also replaces mentions such as `docs/operate/alerts.md`.
 *
 *     npm run docs -- addresses
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesIn } from "../pack/files.ts";
import { root } from "../root.ts";
import { withHomepage, withPageUrls } from "./links.ts";

for (const file of await filesIn(join(root, "templates"))) {
  rewrite(file, (text) => withHomepage(withPageUrls(text)));
}
for (const file of await filesIn(join(root, "docs"))) {
  if (file.endsWith(".md")) rewrite(file, withHomepage);
}

function rewrite(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, "utf8");
  const changed = change(text);
  if (changed !== text) writeFileSync(file, changed);
}
