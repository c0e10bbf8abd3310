/** Pins the images of templates/ by digest, or renews their digests. Needs Docker with Buildx, and the registry. */
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { pinImages, TEMPLATES } from "./images.ts";

const USAGE = `npx node scripts/images/main.ts            pins the images of templates/, or renews their digests
npx node scripts/images/main.ts --check    exits with 1 if an image is not pinned by its current digest`;

const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    folder: { type: "string", default: TEMPLATES },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}

const digests = new Map<string, string>();

function digestOf(image: string): string {
  const known = digests.get(image) ?? inspect(image);
  digests.set(image, known);
  return known;
}

function inspect(image: string): string {
  const args = ["buildx", "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"];
  const digest = execFileSync("docker", args, { encoding: "utf8" }).trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw new Error(`docker returned ${JSON.stringify(digest)} instead of the digest of ${image}.`);
  }
  return digest;
}

const changed = pinImages(values.folder, { digestOf, isDryRun: values.check });
for (const { file, image, digest } of changed) {
  console.log(`${file}: ${image}@${digest}${values.check ? " is not what it names" : ""}`);
}
if (changed.length === 0) console.log("Every image is pinned by its current digest.");
if (values.check && changed.length > 0) process.exitCode = 1;
