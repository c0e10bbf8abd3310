import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "./create.ts";
import type { Source } from "./dependency.ts";
import { help } from "./help.ts";
import { type Io, processIo } from "./io.ts";
import { readOptions, wantsJson } from "./options.ts";
import { exitCodeOf, tellError } from "./report.ts";

export type { Source } from "./dependency.ts";
export type { Io } from "./io.ts";

/**
 * The command `create-service-bot`. It prints everything that there is to say, and never throws.
 *
 * @param argv the arguments after the name of the script
 * @returns the exit code: 0 done, 2 wrong usage with nothing written, 1 anything else
 */
export async function main(
  argv: readonly string[],
  origin: Omit<Source, "version">,
  io: Io = processIo(),
): Promise<0 | 1 | 2> {
  try {
    const request = readOptions(argv);
    const version = await ownVersion(origin.root);
    if (request === "help" || request === "version") {
      io.out(request === "help" ? help : `${version}\n`);
      return 0;
    }
    const result = await create(request, { ...origin, version }, io);
    if (request.json) io.out(`${JSON.stringify(result)}\n`);
    return result.error === undefined ? 0 : 1;
  } catch (error) {
    tellError(error, io, wantsJson(argv));
    return exitCodeOf(error);
  }
}

async function ownVersion(root: string): Promise<string> {
  const { version }: { version: string } = JSON.parse(
    await readFile(join(root, "package.json"), "utf8"),
  );
  return version;
}
