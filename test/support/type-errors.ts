import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../scripts/root.ts";

const run = promisify(execFile);

interface TypeErrorsOptions {
  readonly modules?: string;
  readonly paths?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Type-checks files with the project's strict options.
 *
 * @param files file contents by path
 * @param options `modules` is the `node_modules` folder to import packages from; `paths` is the compiler option
 * @returns the compiler's errors
 */
export async function typeErrors(
  files: Readonly<Record<string, string>>,
  { modules = join(root, "node_modules"), paths = {} }: TypeErrorsOptions = {},
): Promise<string> {
  const cache = join(modules, ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "types-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const compilerOptions = { paths, isolatedDeclarations: false, declaration: false };
    const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["**/*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { stdout } = await run(process.execPath, [tsc, "-p", folder]).catch((error) => error);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
