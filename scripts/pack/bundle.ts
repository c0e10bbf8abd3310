import { writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from "rolldown";
import { minifySync } from "rolldown/utils";

/** The oldest Node whose syntax the bundle may use. */
const TARGET = "node20";

/**
 * Bundles the scaffolder into `outDir/create.js` and, for what it loads late, chunks beside it. As CommonJS:
 * an `import` of a module of Node touches each of its exports, and those who create a bot would wait for that
 * a third of the time until its first file is there.
 *
 * @returns the files that are in the bundle
 * @throws {Error} an import cannot be resolved
 */
export async function bundle(entry: string, outDir: string): Promise<readonly string[]> {
  const modules = await write(
    {
      input: entry,
      // What is loaded late shares code with the entry: it may take that from there, and no third file is read.
      preserveEntrySignatures: "allow-extension",
      transform: { target: TARGET },
    },
    { dir: outDir, format: "cjs", entryFileNames: "create.js", chunkFileNames: "[name].js" },
  );
  // The package around it is one of ES modules.
  await writeFile(join(outDir, "package.json"), '{ "type": "commonjs" }\n');
  return modules;
}

export interface LibraryOptions {
  /** Folder of the sources. */
  readonly src: string;
  readonly outDir: string;
  /** Modules relative to `src`, without their extension. Each becomes a file of the same name. */
  readonly entries: readonly string[];
  /** Packages that stay imports. All others are bundled: less to install, and quicker to load. */
  readonly external: readonly string[];
}

/**
 * Bundles the library into one file per entry, and chunks for what entries share or load late. Names stay as they are,
 * and our own lines stay lines, so that a stack trace can be read.
 *
 * @returns and throws as {@link bundle} does
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

/** The name of the package that a file belongs to. */
function packageOf(id: string): string | null {
  const [name, second] = id.split("/node_modules/").at(-1)?.split("/") ?? [];
  return (name?.startsWith("@") ? second : name) ?? null;
}

/** Lets a module find the files beside its source: `import.meta.url` stays the address at which the module would be alone. */
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

/** Removes the white space of chunks that hold packages alone. */
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
 * Bundles one module, with the packages that it imports, into one file: without comments, the names as they are, for
 * the sake of stack traces.
 *
 * @returns and throws as {@link bundle} does
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
      // Above all what is unresolved: it would be missing where nothing else is installed.
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
