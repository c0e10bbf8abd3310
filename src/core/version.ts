import { readFileSync } from "node:fs";

/** The version of this package. */
export function version(): string {
  // Two folders up from here, both in the source tree and in the packed one.
  const file = new URL("../../package.json", import.meta.url);
  const manifest: { version: string } = JSON.parse(readFileSync(file, "utf8"));
  return manifest.version;
}
