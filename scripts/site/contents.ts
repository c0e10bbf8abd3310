import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { homepage } from "./homepage.ts";
import { sitePages } from "./links.ts";

export interface Section {
  readonly title: string;
  readonly pages: readonly ListedPage[];
}

export interface ListedPage {
  readonly title: string;
  /** Path below docs/. */
  readonly file: string;
}

export function readContents(): Section[] {
  const text = readFileSync(join(root, "docs", "README.md"), "utf8");
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.split("\n", 1)[0] ?? "",
      pages: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(
        ([, title = "", target = ""]) => ({ title, file: fileOf(target) }),
      ),
    }));
}

/** Pages that are not in git are listed by their URLs. */
function fileOf(target: string): string {
  if (!target.startsWith(homepage)) return target;
  const file = sitePages().get(target.slice(homepage.length));
  if (file === undefined) throw new Error(`docs/README.md lists ${target}, which is no page`);
  return file.slice("docs/".length);
}
