import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../src/errors.ts";
import { packBoth, packServiceBot } from "./pack/packages.ts";
import { sizeTable } from "./pack/size.ts";

/**
 * Packs `service-bot` as it would be published, and prints the path of the tarball. With `--all` it packs
 * `create-service-bot` as well, and prints how large the two are.
 *
 *     node scripts/pack.ts --out DIR [--all] [--repository URL]
 *
 * With `--repository` the packages name it, as npm asks of those that tell their provenance.
 *
 * Everything happens in directories of its own, so several packs can run at once, and the
 * checkout's `dist` stays as it is.
 */
const { values } = parseArgs({
  options: {
    out: { type: "string", default: "." },
    all: { type: "boolean", default: false },
    repository: { type: "string" },
  },
});
try {
  const out = resolve(values.out);
  if (values.all) {
    const packed = await packBoth(out, values);
    console.log(sizeTable(packed));
    for (const { path } of packed) console.log(path);
  } else {
    console.log((await packServiceBot(out, values)).path);
  }
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
