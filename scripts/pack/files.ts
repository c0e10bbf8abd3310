import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Returns the paths of all files in a folder and its subfolders. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
