import { spawnSync } from "node:child_process";
import { root } from "../root.ts";

/** Matches source files that the parser understands. CSS, YAML and shell are not checked. */
export const CODE: RegExp = /\.(?:ts|tsx|mts|mjs|js)$/;

export function git(...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync("git", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 100_000_000,
  });
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim()}`);
  return stdout;
}
