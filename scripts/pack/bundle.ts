import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type InputOptions, type OutputOptions, rolldown } from "rolldown";

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
