import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CreateError } from "./errors.ts";
import { hasCode, isInside } from "./paths.ts";
import type { BotFile } from "./template.ts";

/**
 * Writes the files of a bot. The target was looked at before; should something have appeared there
 * since, it is not overwritten, and nothing is written through it to a place outside.
 *
 * @throws {CreateError}
 */
export async function writeFiles(target: string, files: readonly BotFile[]): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const { path, content, mode } of files) {
    const file = join(target, path);
    await mkdir(dirname(file), { recursive: true });
    if (!(await isInside(target, dirname(file)))) {
      throw new CreateError(`${path} would be written outside of ${target}; stopped before it.`);
    }
    await write(file, path, content, mode);
  }
}

async function write(
  file: string,
  path: string,
  content: string | Uint8Array,
  mode: number | undefined,
): Promise<void> {
  try {
    await writeFile(file, content, { flag: "wx", ...(mode !== undefined && { mode }) });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    throw new CreateError(`${path} appeared while the bot was being written; stopped before it.`);
  }
}
