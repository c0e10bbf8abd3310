import { writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from "rolldown";
import { minifySync } from "rolldown/utils";

/** Oldest Node that can run the bundle. */
const TARGET = "node20";

/**
 * Bundles the scaffolder into `outDir/create.js`, and its lazily loaded modules into chunks. The format is CommonJS
 * because `import` of a Node module evaluates each of its exports, a third of the time to the first file.
 *
 * @returns the source files in the bundle
 * @throws {Error} if an import cannot be resolved
 */
export async function bundle(entry: string, outDir: string): Promise<readonly string[]> {
  const modules = await write(
    {
      input: entry,
      // Lets lazy chunks import shared code from the entry instead of from a third file.
      preserveEntrySignatures: "allow-extension",
      transform: { target: TARGET },
    },
    { dir: outDir, format: "cjs", entryFileNames: "create.js", chunkFileNames: "[name].js" },
  );
  // The surrounding package has `"type": "module"`.
  await writeFile(join(outDir, "package.json"), '{ "type": "commonjs" }\n');
  return modules;
}

export interface LibraryOptions {
  readonly src: string;
  readonly outDir: string;
  /** Modules relative to `src`, without their extension. Each becomes a file of the same name. */
  readonly entries: readonly string[];
  /** Packages that remain imports. All others are bundled, because a bundle installs and loads faster. */
  readonly external: readonly string[];
}

/**
 * Bundles the library into one file per entry, and chunks for shared and lazily loaded modules. Names and lines are
 * kept for readable stack traces.
 *
 * Returns and throws as {@link bundle} does.
 */
export function bundleLibrary(options: LibraryOptions): Promise<readonly string[]> {
  const { src, outDir, entries, external } = options;
  const input = Object.fromEntries(entries.map((entry) => [entry, join(src, `${entry}.ts`)]));
  const isExternal = (id: string) =>
    external.some((name) => id === name || id.startsWith(`${name}/`));
  const plugins = [keepModuleUrls(src), packThirdParty()];
  return write(
    { input, external: isExternal, plugins },
    {
      ...{ dir: outDir, format: "es", keepNames: true, comments: false },
      ...{ entryFileNames: "[name].js", chunkFileNames: "chunks/[name].js" },
      codeSplitting: { groups: [{ name: packageOf, debugName: "packages", test: /node_modules/ }] },
    },
  );
}

/** Returns the name of the package that a file belongs to. */
function packageOf(id: string): string | null {
  const [name, second] = id.split("/node_modules/").at(-1)?.split("/") ?? [];
  return (name?.startsWith("@") ? second : name) ?? null;
}

/** Keeps `import.meta.url` at the module's own path, so that the module finds the files beside its source. */
function keepModuleUrls(src: string): Plugin {
  const mark = /__moduleUrl\("([^"]+)"\)/g;
  return {
    name: "keep-module-urls",
    transform(code, id) {
      if (!id.startsWith(src) || !code.includes("import.meta.url")) return null;
      return code.replaceAll(
        "import.meta.url",
        `__moduleUrl(${JSON.stringify(relative(src, id))})`,
      );
    },
    renderChunk(code, { fileName }) {
      return code.replace(mark, (_call, path: string) => {
        const url = relative(dirname(fileName), path);
        return `new URL(${JSON.stringify(url)}, import.meta.url)`;
      });
    },
  };
}

/** Minifies the white space of chunks that contain only packages. */
function packThirdParty(): Plugin {
  return {
    name: "pack-third-party",
    renderChunk(code, { fileName, moduleIds }) {
      const isOwn = (id: string) => !id.includes("/node_modules/");
      if (moduleIds.length === 0 || moduleIds.some(isOwn)) return null;
      const codegen = { removeWhitespace: true };
      return minifySync(fileName, code, { compress: false, mangle: false, codegen }).code;
    },
  };
}

/**
 * Bundles one module and the packages that it imports into one file. Comments are removed. Names are kept for readable
 * stack traces.
 *
 * Returns and throws as {@link bundle} does.
 */
export function bundleModule(entry: string, file: string): Promise<readonly string[]> {
  const minify = { compress: false, mangle: false, codegen: { removeWhitespace: true } } as const;
  return write({ input: entry }, { file, format: "es", minify });
}

async function write(input: InputOptions, output: OutputOptions): Promise<readonly string[]> {
  const build = await rolldown({
    ...input,
    platform: "node",
    onLog: (_level, { message }) => {
      // An unresolved import, for example, would fail once the package is installed.
      throw new Error(`${input.input} cannot be bundled: ${message}`);
    },
  });
  try {
    const { output: files } = await build.write(output);
    return files.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  } finally {
    await build.close();
  }
}
