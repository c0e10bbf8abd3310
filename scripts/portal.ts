import { join } from "node:path";
import { root } from "./compile.ts";
import { buildPortal } from "./pack/portal.ts";

const { files } = await buildPortal(join(root, "src", "platform", "portal", "static"));
for (const { name, gzipped } of files) {
  console.log(`${name.padEnd(24)} ${(gzipped / 1024).toFixed(1).padStart(7)} kB gzipped`);
}
