import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundleAsync } from "lightningcss";
import { rolldown } from "rolldown";
import { type Modules, modulesOf } from "./bundle.ts";

const require = createRequire(import.meta.url);

const source = fileURLToPath(new URL("../../src/platform/portal", import.meta.url));

export interface BuiltPortal {
  readonly files: readonly { readonly name: string; readonly gzipped: number }[];
  readonly modules: Modules;
}

/**
 * Builds the local platform's portal: a script, a style sheet, an icon and `index.html`. The file names contain a hash,
 * so that a browser never shows an old version.
 *
 * @throws {Error} if an import cannot be resolved
 */
export async function buildPortal(outDir: string): Promise<BuiltPortal> {
  const { code, modules } = await bundleScript();
  const { css, sheets } = await bundleStyles();
  const icon = await readFile(join(source, "icon.svg"), "utf8");
  const script = hashed("app", "js", code);
  const style = hashed("app", "css", css);
  const html = (await readFile(join(source, "index.html"), "utf8"))
    .replace("/portal/app.js", `/portal/${script}`)
    .replace("/portal/app.css", `/portal/${style}`);
  const files = { "index.html": html, [script]: code, [style]: css, "icon.svg": icon };
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(outDir, name), text);
  const sizes = Object.entries(files).map(([name, text]) => {
    return { name, gzipped: gzipSync(text).byteLength };
  });
  return { files: sizes, modules: new Map([...modules, ...sheets]) };
}

async function bundleScript(): Promise<{ code: string; modules: Modules }> {
  const input = join(source, "main.tsx");
  const build = await rolldown({
    input,
    platform: "browser",
    tsconfig: join(source, "tsconfig.json"),
    transform: { target: "es2022" },
    onLog: (_level, { message }) => {
      throw new Error(`${input} cannot be bundled: ${message}`);
    },
  });
  try {
    const { output } = await build.generate({ format: "es", minify: true, comments: false });
    const [script, ...more] = output;
    if (more.length > 0)
      throw new Error("The page must be one script, but a module is loaded lazily.");
    return { code: script.code, modules: modulesOf(output) };
  } finally {
    await build.close();
  }
}

/** Bundles `styles/app.css` and its imports, which are paths or files of installed packages. */
async function bundleStyles(): Promise<{ css: string; sheets: Modules }> {
  const sheets = new Map<string, number>();
  const { code } = await bundleAsync({
    filename: join(source, "styles", "app.css"),
    minify: true,
    resolver: {
      resolve: (name, from) => {
        const path = name.startsWith(".") ? join(dirname(from), name) : require.resolve(name);
        sheets.set(path, statSync(path).size);
        return path;
      },
    },
  });
  return { css: Buffer.from(code).toString(), sheets };
}

function hashed(name: string, type: string, text: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 10);
  return `${name}-${hash}.${type}`;
}
