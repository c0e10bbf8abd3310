import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../src/errors.ts";
import { PackCache } from "./pack/cache.ts";

/**
 * Packs `service-bot` as it would be published, and prints the path of the tarball.
 *
 *     npx node scripts/pack.ts [--cached | --all] [--repository URL] --out DIR
 *
 * `--all` also packs `create-service-bot`, and prints the sizes of both.
 *
 * `--repository` adds the repository to the manifests. npm requires it for provenance.
 *
 * `--cached` reuses the last tarball of an unchanged checkout.
 *
 * The script works in temporary directories, so several can run at once, and `dist` stays unchanged.
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
