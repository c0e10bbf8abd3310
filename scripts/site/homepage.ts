import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";

/** URL of the site, without a slash at the end. package.json is the only place that defines it. */
export const homepage: string = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
).homepage;
