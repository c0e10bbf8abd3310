import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import { root } from "../compile.ts";

/** Lists the source files whose syntax tree differs from that of a commit. Ignores comments and layout. */
export function changedCode(ref: string): string[] {
  const files = git("diff", "--name-only", "--no-renames", ref)
    .split("\n")
    .filter((file) => /\.(?:ts|tsx|mts|mjs|js)$/.test(file));
  return files.filter((file) => {
    const path = join(root, file);
    return (
      !existsSync(path) || tree(file, readFileSync(path, "utf8")) !== tree(file, show(ref, file))
    );
  });
}

function show(ref: string, file: string): string {
  const { stdout, status } = run("show", `${ref}:${file}`);
  return status === 0 ? stdout : "";
}

function tree(file: string, source: string): string {
  return JSON.stringify(parseSync(file, source).program, (key, value) => {
    if (key === "start" || key === "end" || key === "range") return undefined;
    return typeof value === "bigint" ? String(value) : value;
  });
}

function git(...args: string[]): string {
  const { stdout, stderr, status } = run(...args);
  if (status !== 0) throw new Error(stderr.trim());
  return stdout;
}

function run(...args: string[]) {
  return spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 100_000_000 });
}
