import { chmod, cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative, sep } from "node:path";
import { run, tail } from "../src/create/io.ts";
import { bundleLibrary } from "./pack/bundle.ts";
import { buildPortal } from "./pack/portal.ts";
import { root } from "./root.ts";

const src = join(root, "src");

/** Path below src. Built separately, because the portal runs in browsers. */
const PORTAL = join("platform", "portal");

/** The CLI's entry point, which no module imports. */
const COMMAND = join("cli", "main");

export interface CompileOptions {
  /** Type checking makes the build ten times slower and does not change the output. Default: true. */
  readonly checkTypes?: boolean;
}

/**
 * Builds the `service-bot` package from `src`. The output is a bundle with one file per entry, its declarations, the
 * portal, and files read at runtime, such as SQL.
 *
 * @returns the source files in the bundle and in the portal
 * @throws {Error} with the compiler's messages
 */
export async function compile(
  outDir: string,
  { checkTypes = true }: CompileOptions = {},
): Promise<readonly string[]> {
  const { exports, dependencies, peerDependencies } = JSON.parse(
    await readFile(join(root, "package.json"), "utf8"),
  );
  const entries = entryNames(exports);
  await writeDeclarations(outDir, entries, checkTypes);
  const modules = await bundleLibrary({
    src,
    outDir,
    entries: [...entries, COMMAND],
    external: Object.keys({ ...dependencies, ...peerDependencies }),
  });
  await copyAssets(outDir);
  await makeExecutable(join(outDir, `${COMMAND}.js`));
  const portal = await buildPortal(join(outDir, PORTAL, "static"));
  return [...modules, ...portal.modules];
}

function entryNames(exports: Readonly<Record<string, string | { default: string }>>): string[] {
  return Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : [target.default.slice("./dist/".length, -".js".length)],
  );
}

/** Writes only the declarations that the entries need. All declarations would double the number of files. */
async function writeDeclarations(
  outDir: string,
  entries: readonly string[],
  checkTypes: boolean,
): Promise<void> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const project = join(root, "scripts", "tsconfig.build.json");
  const args = [tsc, "-p", project, "--outDir", outDir, ...(checkTypes ? [] : ["--noCheck"])];
  const { code, output } = await run(process.execPath, args, { cwd: root, env: process.env });
  if (code !== 0) throw new Error(`The sources do not compile:\n${tail(output, 40)}`);
  const needed = new Set<string>();
  for (const entry of entries) await keepDeclaration(join(outDir, `${entry}.d.ts`), needed);
  for (const file of await filesIn(outDir)) if (!needed.has(file)) await rm(file);
  await removeEmptyFolders(outDir);
}

/** TypeScript keeps `./x.ts` in declarations, but some editors read only `./x.js`. */
const RELATIVE_TS = /((?:\bfrom|\bimport)\s*\(?\s*")(\.{1,2}\/[^"]+)\.ts(")/g;

async function keepDeclaration(file: string, needed: Set<string>): Promise<void> {
  if (needed.has(file)) return;
  needed.add(file);
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace(RELATIVE_TS, "$1$2.js$3"));
  for (const [, , path] of text.matchAll(RELATIVE_TS)) {
    await keepDeclaration(join(dirname(file), `${path}.d.ts`), needed);
  }
}

async function removeEmptyFolders(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  for (const { name } of folders) await removeEmptyFolders(join(folder, name));
  if ((await readdir(folder)).length === 0) await rm(folder, { recursive: true });
}

async function copyAssets(outDir: string): Promise<void> {
  const apart = [join(src, "create"), join(src, PORTAL)];
  for (const file of await filesIn(src)) {
    if (extname(file) === ".ts" || apart.some((folder) => file.startsWith(folder + sep))) continue;
    await cp(file, join(outDir, relative(src, file)));
  }
}

async function makeExecutable(file: string): Promise<void> {
  const text = await readFile(file, "utf8");
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
