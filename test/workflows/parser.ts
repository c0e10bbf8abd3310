import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundleModule } from "../../scripts/pack/bundle.ts";

/** GitHub's own parser of workflows. It imports JSON as bundlers take it, and Node does not: so it is bundled first. */
export async function loadParser(): Promise<typeof import("@actions/workflow-parser")> {
  const cache = join(import.meta.dirname, "../../node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "workflow-parser-"));
  try {
    const file = join(folder, "parser.mjs");
    await bundleModule(fileURLToPath(import.meta.resolve("@actions/workflow-parser")), file);
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
