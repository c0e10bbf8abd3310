import { join } from "node:path";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { withPageUrls } from "../site/links.ts";
import type { LibraryOptions } from "./bundle.ts";

/**
 * Writes the declarations of the entries, with files for what they share. Omits everything that no exported name needs,
 * and what is marked `@internal`, because a bot does not install the types of the packages behind it.
 */
export async function bundleDeclarations({
  src,
  outDir,
  entries,
}: Omit<LibraryOptions, "external">): Promise<void> {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(src, `${entry}.ts`)])),
    external: (id) => /^[@\w][^:]/.test(id),
    // On a slow machine, the timings cause a warning.
    checks: { bundlerTimings: false },
    // Otherwise the imports of unused declarations remain.
    treeshake: { moduleSideEffects: false },
    plugins: [
      dts({ tsconfig: false, generator: "oxc", oxc: { stripInternal: true }, emitDtsOnly: true }),
      // Editors show docstrings far away from docs/.
      { name: "page-urls", renderChunk: (code) => withPageUrls(code) },
    ],
    onLog: (_level, { message }) => {
      throw new Error(`The declarations cannot be bundled: ${message}`);
    },
  });
  try {
    await build.write({
      ...{ dir: outDir, format: "es", entryFileNames: "[name].js" },
      chunkFileNames: "types/[name].js",
      // A file without exports would not be a module.
      footer: ({ exports }) => (exports.length === 0 ? "export {};" : ""),
    });
  } finally {
    await build.close();
  }
}
