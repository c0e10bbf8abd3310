import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";

export interface Section {
  readonly title: string;
  readonly pages: readonly ListedPage[];
}

export interface ListedPage {
  readonly title: string;
  readonly file: string;
}

export function readContents(): Section[] {
  const text = readFileSync(join(root, "docs", "README.md"), "utf8");
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.split("\n", 1)[0] ?? "",
      pages: [...section.matchAll(/^- \[([^\]]+)\]\(([\w/-]+\.md)\)/gm)].map(
        ([, title = "", file = ""]) => ({ title, file }),
      ),
    }));
}
