import { rm } from "node:fs/promises";
import { join } from "node:path";
import { compile, root } from "./compile.ts";

// Files of an earlier build whose sources are gone would be published with the rest.
const dist = join(root, "dist");
await rm(dist, { recursive: true, force: true });
await compile(dist);
