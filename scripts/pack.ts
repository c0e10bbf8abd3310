import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { run, tail } from "../src/create/run.ts";
import { compile, root } from "./compile.ts";

/**
 * Packs `service-bot` as it would be published, and prints the path of the tarball.
 *
 *     node scripts/pack.ts --out DIR
 *
 * Everything happens in a directory of its own, so several packs can run at once, and the
 * checkout's `dist` stays as it is.
 */
const { values } = parseArgs({ options: { out: { type: "string", default: "." } } });
const stage = await mkdtemp(join(tmpdir(), "service-bot-pack-"));
try {
  await compile(join(stage, "dist"));
  await stagePackage(stage);
  console.log(await packStage(stage, resolve(values.out)));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await rm(stage, { recursive: true, force: true });
}

async function stagePackage(stage: string): Promise<void> {
  const manifest: Record<string, unknown> = JSON.parse(
    await readFile(join(root, "package.json"), "utf8"),
  );
  // What only development needs says nothing to those who install the package.
  const { devDependencies, scripts, allowScripts, ...published } = manifest;
  await writeFile(join(stage, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  const present = new Set(await readdir(root));
  for (const name of ["README.md", "LICENSE", "CHANGELOG.md"]) {
    if (present.has(name)) await cp(join(root, name), join(stage, name));
  }
}

async function packStage(stage: string, out: string): Promise<string> {
  const args = ["pack", "--ignore-scripts", "--loglevel=error"];
  const { code, output } = await run("npm", args, { cwd: stage, env: process.env });
  const tarball = (await readdir(stage)).find((name) => name.endsWith(".tgz"));
  if (code !== 0 || tarball === undefined) throw new Error(`npm pack failed:\n${tail(output)}`);
  await mkdir(out, { recursive: true });
  const path = join(out, tarball);
  await copyFile(join(stage, tarball), path);
  return path;
}
