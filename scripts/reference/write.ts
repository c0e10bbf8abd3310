import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { reference } from "./reference.ts";

/**
 * Writes the pages of the API reference, which are not in git.
 *
 * @returns their paths
 */
export function writeReference(): string[] {
  rmSync(join(root, "docs/reference/api"), { recursive: true, force: true });
  mkdirSync(join(root, "docs/reference/api"), { recursive: true });
  return [...reference()].map(([page, text]) => {
    const path = join("docs", page);
    writeFileSync(join(root, path), text);
    return path;
  });
}
