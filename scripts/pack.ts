import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../src/errors.ts";
import { PackCache } from "./pack/cache.ts";

/**
 * Packs `service-bot` as it would be published, and prints the path of the tarball. With `--all` it packs
 * `create-service-bot` as well, and prints how large the two are.
 *
 *     npx node scripts/pack.ts [--cached | --all] [--repository URL] --out DIR
 *
 * With `--repository` the packages name it, because npm asks for it with a provenance. With `--cached` an
 * unchanged checkout is packed once, and its types are not checked: for bots that are made from it, not for publishing.
 *
 * Everything happens in directories of its own, so several packs can run at once, and the
 * checkout's `dist` stays as it is.
 */
const { values } = parseArgs({
  options: {
    out: { type: "string", default: "." },
    all: { type: "boolean", default: false },
    cached: { type: "boolean", default: false },
    repository: { type: "string" },
  },
});
try {
  const out = resolve(values.out);
  if (values.cached) {
    console.log(await new PackCache().packServiceBot(out));
  } else if (values.all) {
    const { packBoth } = await import("./pack/packages.ts");
    const { sizeTable } = await import("./pack/size.ts");
    const packed = await packBoth(out, values);
    console.log(sizeTable(packed));
    for (const { path } of packed) console.log(path);
  } else {
    const { packServiceBot } = await import("./pack/packages.ts");
    console.log((await packServiceBot(out, values)).path);
  }
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
