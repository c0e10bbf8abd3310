import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, tail } from "../../src/create/io.ts";
import { readTar } from "./read-tar.ts";

export interface Packed {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly files: number;
}

/** Packs the files that `fill` writes to an empty directory. Leaves the tarball in `out`. */
export async function packStage(
  out: string,
  fill: (stage: string) => Promise<void>,
): Promise<Packed> {
  const stage = await mkdtemp(join(tmpdir(), "service-bot-pack-"));
  try {
    await fill(stage);
    return await measure(await pack(stage, out));
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function pack(stage: string, out: string): Promise<string> {
  const args = ["pack", "--ignore-scripts", "--loglevel=error"];
  const { code, output } = await run("npm", args, { cwd: stage, env: process.env });
  const tarball = (await readdir(stage)).find((name) => name.endsWith(".tgz"));
  if (code !== 0 || tarball === undefined) throw new Error(`npm pack failed:\n${tail(output)}`);
  await mkdir(out, { recursive: true });
  const path = join(out, tarball);
  await copyFile(join(stage, tarball), path);
  return path;
}

async function measure(path: string): Promise<Packed> {
  const archive = await readFile(path);
  const entries = readTar(archive);
  const { name, version } = JSON.parse(entries.get("package/package.json")?.text ?? "");
  const sizes = [...entries.values()].map(({ size }) => size);
  return {
    name,
    version,
    path,
    packedBytes: archive.length,
    unpackedBytes: sizes.reduce((sum, size) => sum + size, 0),
    files: entries.size,
  };
}
