import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** A page of the documentation, with its path from the root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

export interface CodeBlock {
  readonly page: string;
  readonly language: string;
  readonly code: string;
  /** The comment above it. */
  readonly note: string;
}

/** Every page that users read. */
export const pages: readonly Page[] = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
  join("bench", "README.md"),
  join("src", "create", "README.md"),
].map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** The fenced blocks of a page; what the whole block is indented by, as in a list, is no part of it. */
export function codeBlocks({ path, text }: Page): CodeBlock[] {
  const fences = /(?:^<!-- (.*) -->\n)?^( *)```([^\n]*)\n([\s\S]*?)^ *```$/gm;
  return [...text.matchAll(fences)].map(([, note, indent = "", language = "", code = ""]) => ({
    page: path,
    note: note ?? "",
    language,
    code: code.replaceAll(new RegExp(`^ {${indent.length}}`, "gm"), ""),
  }));
}

/** A page without its code. */
export function prose({ text }: Page): string {
  return text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`]*`/g, "");
}

/** The files that a page links to, from the root. */
export function links({ path, text }: Page): string[] {
  return [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target]) => target ?? "")
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => resolve(root, dirname(path), target));
}
