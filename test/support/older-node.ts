import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { OLDEST_NODE, runsBots } from "../faces/create.ts";

/**
 * Returns a Node from the PATH that is too old to run TypeScript. If there is none, logs a note and returns
 * `undefined`.
 */
export function nodeOlderThanBots(): string | undefined {
  const older = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((directory) => join(directory, "node"))
    .find((node) => {
      try {
        return !runsBots(execFileSync(node, ["--version"], { encoding: "utf8" }));
      } catch {
        return false;
      }
    });
  if (older === undefined) {
    process.stderr.write(
      `a Node that is too old for bots is not tested: there is none before ${OLDEST_NODE} on the PATH\n`,
    );
  }
  return older;
}
