import { writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import {
  type InputOptions,
  type OutputAsset,
  type OutputChunk,
  type OutputOptions,
  type Plugin,
  rolldown,
} from "rolldown";
import { minifySync } from "rolldown/utils";

const TARGET = "node20";

/** Source files by path, with the bytes of code that each adds to a bundle, before whitespace is removed. */
export type Modules = ReadonlyMap<string, number>;

/**
 * Bundles the scaffolder into `outDir/create.js`, with chunks for lazily loaded modules. The format is CommonJS,
 * because `import` evaluates every export of a Node module, which would take a third of the time until the first file
 * is written.
 *
 * @returns the source files in the bundle, with the bytes of code that each adds
 * @throws {Error} if an import cannot be resolved
 */
export async function bundle(entry: string, outDir: string): Promise<Modules> {
  const modules = await write(
    {
      input: entry,
      // Lets chunks import shared code from the entry instead of from a third file.
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
  /** Modules relative to `src`, without extension. Each becomes a file with the same name. */
  readonly entries: readonly string[];
  /** Packages to import at runtime. All others are bundled, because a bundle installs and loads faster. */
  readonly external: readonly string[];
}

/**
 * Bundles the library into one file per entry, with chunks for shared and lazily loaded modules. Keeps names and line
 * breaks, so that stack traces are readable.
 *
 * @returns the source files in the bundle, with the bytes of code that each adds
 * @throws {Error} if an import cannot be resolved
 */
export function bundleLibrary(options: LibraryOptions): Promise<Modules> {
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

function packageOf(id: string): string | null {
  const [name, second] = id.split("/node_modules/").at(-1)?.split("/") ?? [];
  return (name?.startsWith("@") ? second : name) ?? null;
}

/** Keeps each module's own `import.meta.url`, so that the module finds the files next to its source. */
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

export function modulesOf(files: readonly (OutputChunk | OutputAsset)[]): Modules {
  const chunks = files.filter((file) => file.type === "chunk");
  const modules = chunks.flatMap((chunk) => Object.entries(chunk.modules));
  return new Map(modules.map(([id, { renderedLength }]) => [id, renderedLength]));
}

async function write(input: InputOptions, output: OutputOptions): Promise<Modules> {
  const build = await rolldown({
    ...input,
    platform: "node",
    // On a slow machine, the timings cause a warning.
    checks: { bundlerTimings: false },
    onLog: (_level, { message }) => {
      // Some warnings, such as an unresolved import, become failures once the package is installed.
      throw new Error(`${input.input} cannot be bundled: ${message}`);
    },
  });
  try {
    const { output: files } = await build.write(output);
    return modulesOf(files);
  } finally {
    await build.close();
  }
}
