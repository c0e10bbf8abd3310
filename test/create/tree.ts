import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

/**
 * Lists a directory and everything below it, one line per entry: kind, permissions, modification time and content.
 * Equal lists mean identical trees.
 *
 * @param except path of a directory to skip
 */
export async function fingerprint(directory: string, except?: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  const paths = ["", ...names.sort()].filter(
    (path) => except === undefined || (path !== except && !path.startsWith(`${except}/`)),
  );
  return await Promise.all(
    paths.map(async (path) => `${path} ${await describe(join(directory, path))}`),
  );
}

async function describe(path: string): Promise<string> {
  const stats = await lstat(path);
  const about = `${stats.mode.toString(8)} ${stats.uid}:${stats.gid} ${stats.mtimeMs}`;
  if (stats.isSymbolicLink()) return `${about} → ${await readlink(path)}`;
  if (!stats.isFile()) return about;
  return `${about} ${createHash("sha256")
    .update(await readFile(path))
    .digest("hex")}`;
}
