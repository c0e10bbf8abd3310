import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./mutant.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const COPIED = ["src", "test", "templates", "scripts", "docs", "package.json", "tsconfig.json"];

/** A copy of the project that can be damaged. */
export class Tree {
  readonly folder: string = mkdtempSync(join(tmpdir(), "service-bot-mutant-"));

  constructor() {
    for (const name of [...COPIED, "vitest.config.ts"]) {
      cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(this.folder, "node_modules"));
  }

  /**
   * Applies the mutation. Returns what takes it back, or how often its text is in the file when that
   * is not once.
   */
  apply({ file, find, replace }: Mutant): (() => void) | number {
    const path = join(this.folder, file);
    const source = readFileSync(path, "utf8");
    const parts = source.split(find);
    if (parts.length !== 2) return parts.length - 1;
    writeFileSync(path, parts.join(replace));
    return () => writeFileSync(path, source);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
