import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import { root } from "../root.ts";
import { CODE, git } from "./git.ts";

/**
 * Lists the source files whose syntax tree differs from that in a commit. Comments and layout are not part of the tree.
 */
export function changedCode(ref: string): string[] {
  return git("diff", "--name-status", "--no-renames", ref)
    .split("\n")
    .flatMap((row) => {
      const [status, file = ""] = row.split("\t");
      if (!CODE.test(file)) return [];
      return status === "M" && hasSameTree(ref, file) ? [] : [file];
    });
}

function hasSameTree(ref: string, file: string): boolean {
  const now = readFileSync(join(root, file), "utf8");
  return tree(file, now) === tree(file, git("show", `${ref}:${file}`));
}

function tree(file: string, source: string): string {
  return JSON.stringify(parseSync(file, source).program, (key, value) => {
    if (key === "start" || key === "end" || key === "range") return undefined;
    return typeof value === "bigint" ? String(value) : value;
  });
}
