import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { homepage } from "../../scripts/site/homepage.ts";
import { sitePages, withHomepage } from "../../scripts/site/links.ts";
import { anchorsOf, pages, root } from "../docs/markdown.ts";
import { referencePages } from "../docs/reference-pages.ts";

const files = sitePages();
/** Names of the pages without their folders. */
const names = new Set([...files.values()].map((file) => basename(file)));
const anchors = new Map([...pages, ...referencePages].map((page) => [page.path, anchorsOf(page)]));

/**
 * Returns what leads nowhere in a text that users read without docs/ next to it: paths and names of files in docs/, and
 * URLs of the site that have another address, no page, or no such heading.
 */
export function linkProblems(text: string): string[] {
  const urls = text.match(new RegExp(`${homepage}(?:/[\\w./#-]*[\\w/])?`, "g")) ?? [];
  return [
    ...(text.match(/\bdocs\/[\w/-]+\.\w+(?:#[\w-]+)?/g) ?? []),
    ...(text.match(/(?<![\w/.-])[a-z][\w-]*\.md\b/g) ?? []).filter((name) => names.has(name)),
    ...urls.filter((url) => !leadsToPage(url)),
    ...(withHomepage(text) === text ? [] : ["an address other than homepage in package.json"]),
  ];
}

/** Returns whether a URL of the site has a page, and its anchor a heading. */
export function leadsToPage(url: string): boolean {
  const [path = "", anchor] = url.slice(homepage.length).split("#");
  if (path.startsWith("/images/")) return existsSync(join(root, "docs", path));
  const file = files.get(path || "/");
  return file !== undefined && (anchor === undefined || anchors.get(file)?.has(anchor) === true);
}

/** Returns the targets of a Markdown text's links that are neither URLs nor headings of the text. */
export function relativeLinks(markdown: string): string[] {
  return [...markdown.matchAll(/\]\((?!https?:|#)([^)\s]+)\)/g)].map(([, target = ""]) => target);
}
