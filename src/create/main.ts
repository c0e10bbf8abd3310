import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "./create.ts";
import { type Io, processIo } from "./io.ts";
import { help, readOptions, wantsJson } from "./options.ts";
import type { Source } from "./project.ts";
import { type ExitCode, exitCodeOf, printableText, reportError } from "./report.ts";

export type { Io } from "./io.ts";
export type { Source } from "./project.ts";

/**
 * The command `create-service-bot`. It reports every failure itself, and never throws.
 *
 * @param argv the arguments after the name of the script
 * @returns the exit code: 0 done, 2 wrong usage with nothing written, 130 cancelled or interrupted by a
 *   person, 1 anything else
 */
export async function main(
  argv: readonly string[],
  origin: Omit<Source, "version">,
  io: Io = processIo(),
): Promise<ExitCode> {
  const json = wantsJson(argv);
  const print = (name: "help" | "version", text: string): ExitCode => {
    io.out(json ? `${JSON.stringify({ [name]: text })}\n` : text);
    return 0;
  };
  try {
    const request = readOptions(argv, io.env);
    if (request === "help") return print("help", help);
    const version = ownVersion(origin.root);
    if (request === "version") return print("version", json ? version : `${version}\n`);
    const result = await create(request, { ...origin, version }, io);
    if (json) io.out(printableText(`${JSON.stringify(result)}\n`));
    if (result.error === undefined) return 0;
    return result.error.interrupted ? 130 : 1;
  } catch (error) {
    reportError(error, io, json);
    return exitCodeOf(error);
  }
}

function ownVersion(root: string): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  return version;
}
