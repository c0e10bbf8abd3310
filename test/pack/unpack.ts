import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readTar } from "../../scripts/pack/read-tar.ts";

/** Writes a package's files into a folder, as an installation would. */
export async function unpack(tarball: string, folder: string): Promise<void> {
  for (const [path, { text, mode }] of readTar(await readFile(tarball))) {
    const file = join(folder, path.replace(/^package\//, ""));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode });
  }
}
