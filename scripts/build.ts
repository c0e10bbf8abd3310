import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { compile } from "./compile.ts";
import { root } from "./root.ts";

const dist = join(root, "dist");
const page = join("platform", "portal", "static");

// Delete the old output, which may belong to deleted sources.
await rm(dist, { recursive: true, force: true });
await compile(dist);
// A platform that runs from the sources serves this page.
await rm(join(root, "src", page), { recursive: true, force: true });
await cp(join(dist, page), join(root, "src", page), { recursive: true });
