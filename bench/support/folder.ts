import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder for files that are in the way afterwards. */
export function makeFolder(): { readonly file: (name: string) => string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "service-bot-bench-"));
  return {
    file: (name) => join(path, name),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
