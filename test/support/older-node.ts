import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { runsBots } from "../../src/create/choices.ts";

/** A Node on the PATH that is too old to run TypeScript, where there is one. */
export function nodeOlderThanBots(): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((directory) => join(directory, "node"))
    .find((node) => {
      try {
        return !runsBots(execFileSync(node, ["--version"], { encoding: "utf8" }));
      } catch {
        return false;
      }
    });
}
