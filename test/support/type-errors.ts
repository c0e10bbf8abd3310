import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../scripts/compile.ts";

const run = promisify(execFile);

/**
 * Compiles files as strictly as the project's own, in a folder where the project's packages are found.
 *
 * @param files texts by file name
 * @param paths `paths` of the compiler: where other modules are found
 * @returns the compiler's complaints; empty without any
 */
export async function typeErrors(
  files: Readonly<Record<string, string>>,
  paths: Readonly<Record<string, readonly string[]>> = {},
): Promise<string> {
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "types-"));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const compilerOptions = { paths, isolatedDeclarations: false, declaration: false };
    const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { stdout } = await run(process.execPath, [tsc, "-p", folder]).catch((error) => error);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
