/**
 * Builds the documentation site into `site/.vitepress/dist`, and fails if a link is dead.
 *
 *     npm run docs
 *
 * The site's path on its host is that of `homepage` in package.json. `SITE_REPOSITORY` is the repository's URL.
 */
import { relative } from "node:path";
import { root } from "../root.ts";
import { buildSite } from "./build.ts";

const { SITE_REPOSITORY: repository } = process.env;
try {
  console.log(`The site is in ${relative(root, await buildSite({ repository }))}.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
