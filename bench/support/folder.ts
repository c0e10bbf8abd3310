import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Folders that a failed benchmark left behind. */
const left = new Set<string>();

process.once("exit", () => left.forEach(removeFolder));

export function makeFolder(): { readonly file: (name: string) => string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "service-bot-bench-"));
  left.add(path);
  return { file: (name) => join(path, name), remove: () => removeFolder(path) };
}

function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
  left.delete(path);
}
