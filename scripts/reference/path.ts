import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../compile.ts";

/** A page of the path through docs/, as docs/README.md lists it. */
export interface Stop {
  readonly title: string;
  /** Below docs/. */
  readonly file: string;
}

/** The pages in the order in which they are read. */
export function readPath(): Stop[] {
  const text = readFileSync(join(root, "docs", "README.md"), "utf8");
  return [...text.matchAll(/^- \[([^\]]+)\]\(([\w-]+\.md)\)/gm)].map(
    ([, title = "", file = ""]) => ({ title, file }),
  );
}

/** The last line of a page: the one that follows. Empty on the last page. */
export function nextLine(file: string, path: readonly Stop[] = readPath()): string {
  const next = path[path.findIndex((stop) => stop.file === file) + 1];
  return next === undefined ? "" : `\nNext: [${next.title}](${next.file})\n`;
}

/** A page with that line, in place of the one that it had. */
export function withNextLine(text: string, file: string, path?: readonly Stop[]): string {
  const own = text.replace(/\n+Next: \[[^\]]+\]\([^)]+\)\n*$/, "\n");
  return own + nextLine(file, path);
}
