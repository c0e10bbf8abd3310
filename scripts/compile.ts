import { chmod, cp, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { bundleLibrary, type Modules } from "./pack/bundle.ts";
import { bundleDeclarations } from "./pack/declarations.ts";
import { filesIn } from "./pack/files.ts";
import { buildPortal } from "./pack/portal.ts";
import { type Declared, refuseUndeclared } from "./pack/undeclared.ts";
import { root } from "./root.ts";

const src = join(root, "src");

/** Path below src. Built separately, because the portal runs in browsers. */
const PORTAL = join("platform", "portal");

/** The CLI's entry point, which no module imports. */
const COMMAND = join("cli", "main");

/**
 * Builds the `service-bot` package from `src`. The output is a bundle with one file per entry, its declarations, the
 * portal, and files read at runtime, such as SQL. Does not check types, because the output does not depend on it.
 *
 * @returns the source files in the bundle and in the portal
 * @throws {Error} if the output needs a package that package.json does not declare
 */
export async function compile(outDir: string): Promise<Modules> {
  const manifest: Manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const entries = entryNames(manifest);
  const external = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  await bundleDeclarations({ src, outDir, entries });
  const modules = await bundleLibrary({ src, outDir, entries: [...entries, COMMAND], external });
  await refuseUndeclared(outDir, manifest);
  await copyAssets(outDir);
  await makeExecutable(join(outDir, `${COMMAND}.js`));
  const portal = await buildPortal(join(outDir, PORTAL, "static"));
  return new Map([...modules, ...portal.modules]);
}

interface Manifest extends Declared {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

function entryNames({ exports }: Manifest): string[] {
  return Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : [target.default.slice("./dist/".length, -".js".length)],
  );
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
