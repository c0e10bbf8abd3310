/** Writes the report of the public surface, and the API reference. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { REPORT, surface } from "./surface.ts";
import { writeReference } from "./write.ts";

writeFileSync(join(root, REPORT), surface());
console.log([REPORT, ...writeReference()].join(", "));
