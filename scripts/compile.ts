import { chmod, cp, readdir, readFile, writeFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { run, tail } from "../src/create/run.ts";
import { buildPortal } from "./pack/portal.ts";

/** The checkout. */
export const root: string = fileURLToPath(new URL("..", import.meta.url));

/** Below src: a page for browsers, which is built in another way. */
const PORTAL = join("platform", "portal");

export interface CompileOptions {
  /** Without it a wrong type passes, and the same files come out in a tenth of the time. Default: true. */
  readonly checkTypes?: boolean;
}

/**
 * Compiles `src` (all but the scaffolder, which is a package of its own) to JavaScript and
 * declarations, copies what the code reads at run time, such as the numbered SQL files, and builds the page of the
 * local platform.
 *
 * @returns the files that the page is made of
 * @throws {Error} with the compiler's own words
 */
export async function compile(
  outDir: string,
  { checkTypes = true }: CompileOptions = {},
): Promise<readonly string[]> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const project = join(root, "scripts", "tsconfig.build.json");
  const args = [tsc, "-p", project, "--outDir", outDir, ...(checkTypes ? [] : ["--noCheck"])];
  const { code, output } = await run(process.execPath, args, { cwd: root, env: process.env });
  if (code !== 0) throw new Error(`The sources do not compile:\n${tail(output, 40)}`);
  await copyAssets(outDir);
  await pointDeclarationsAtJs(outDir);
  await makeExecutable(join(outDir, "cli", "main.js"));
  const { modules } = await buildPortal(join(outDir, PORTAL, "static"));
  return modules;
}

async function copyAssets(outDir: string): Promise<void> {
  const src = join(root, "src");
  const apart = [join(src, "create"), join(src, PORTAL)];
  for (const file of await filesIn(src)) {
    if (extname(file) === ".ts" || apart.some((folder) => file.startsWith(folder + sep))) continue;
    await cp(file, join(outDir, relative(src, file)));
  }
}

/**
 * The compiler rewrites `./x.ts` to `./x.js` in the code it emits but not in the declarations.
 * TypeScript reads either; some editors only the second.
 */
async function pointDeclarationsAtJs(outDir: string): Promise<void> {
  const relativeTs = /((?:\bfrom|\bimport)\s*\(?\s*")(\.{1,2}\/[^"]+)\.ts(")/g;
  for (const file of await filesIn(outDir)) {
    if (!file.endsWith(".d.ts")) continue;
    const before = await readFile(file, "utf8");
    const after = before.replace(relativeTs, "$1$2.js$3");
    if (after !== before) await writeFile(file, after);
  }
}

/** npm makes a package's commands executable when it installs them; a plain checkout has no npm. */
async function makeExecutable(file: string): Promise<void> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return;
  if (!text.startsWith("#!/usr/bin/env node\n")) {
    throw new Error(`${relative(root, file)} must begin with #!/usr/bin/env node.`);
  }
  await chmod(file, 0o755);
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
