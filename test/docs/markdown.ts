import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { REFERENCE_PAGES } from "../../scripts/site/pages.ts";
import { githubSlug } from "../../scripts/site/slug.ts";

export const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** A documentation page. Its path is relative to the root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

export interface CodeBlock {
  readonly page: string;
  readonly language: string;
  readonly code: string;
  readonly note: string;
}

/** Pages in git. */
export const pages: readonly Page[] = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name))
    .filter((path) => !REFERENCE_PAGES.includes(path)),
  join("bench", "README.md"),
  join("src", "create", "README.md"),
].map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** Returns a page's fenced blocks. A block inside a list loses its indentation. */
export function codeBlocks({ path, text }: Page): CodeBlock[] {
  const fences = /(?:^ *<!-- (.*) -->\n)?^( *)```([^\n]*)\n([\s\S]*?)^ *```$/gm;
  return [...text.matchAll(fences)].map(([, note, indent = "", language = "", code = ""]) => ({
    page: path,
    note: note ?? "",
    language,
    code: code.replaceAll(new RegExp(`^ {${indent.length}}`, "gm"), ""),
  }));
}

/** Parses a block's name and test file from the note `tested: NAME in FILE` above it. */
export function testOf({ note }: CodeBlock): { name: string; file: string } | undefined {
  const [, name, file] = /^tested: ([a-z-]+) in (test\/\S+\.test\.ts)$/.exec(note) ?? [];
  return name === undefined || file === undefined ? undefined : { name, file };
}

/**
 * Returns the code of the named block on a page. Pass literals, because blocks.test.ts searches for the calls.
 *
 * @throws {Error} unless exactly one block has this name
 */
export function documentedBlock(path: string, name: string): string {
  const [found, ...more] = pages
    .filter((page) => page.path === path)
    .flatMap(codeBlocks)
    .filter((block) => testOf(block)?.name === name);
  if (found === undefined || more.length > 0)
    throw new Error(`${path} does not have exactly one block ${name}`);
  return found.code;
}

export function prose({ text }: Page): string {
  return text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`]*`/g, "");
}

export function targets({ text }: Page): string[] {
  const words = text.replace(/^ *```[\s\S]*?^ *```$/gm, "").replace(/`[^`\n]*`/g, "``");
  return [...words.matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(([, target]) => target ?? "");
}

export function links(page: Page): string[] {
  return targets(page)
    .map((target) => target.split("#", 1)[0] ?? "")
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target))
    .map((target) => resolve(root, dirname(page.path), target));
}

/** Returns the anchors that GitHub generates for a page's headings. */
export function anchorsOf({ text }: Page): Set<string> {
  const anchors = new Set<string>();
  const words = text.replace(/^ *```[\s\S]*?^ *```$/gm, "");
  for (const [, heading = ""] of words.matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = githubSlug(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}
