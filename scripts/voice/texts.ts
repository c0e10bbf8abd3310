import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import { root } from "../root.ts";
import { CODE, git } from "./git.ts";

export type Kind = "comment" | "message" | "prose";

export interface Text {
  readonly kind: Kind;
  /** Path relative to the root. */
  readonly file: string;
  /** Line number, starting at 1. */
  readonly line: number;
  /** The text without code, comment markers and line breaks. */
  readonly words: string;
}

/** Folders whose strings count as messages. Strings in tests are data. */
const PROGRAMS = /^(?:src|scripts|templates)\/|^create-bot\.js$/;
/** Bots created by earlier versions. They are fixtures and stay unchanged. */
const RECORDED = /^test\/fixtures\/bot-/;
/** Marks a generated page. Its texts are checked in the sources. */
const GENERATED = /^<!-- Written by/;

export interface Source {
  /** Path relative to the root. */
  readonly file: string;
  readonly source: string;
}

export function readSources(): Source[] {
  return git("ls-files", "-co", "--exclude-standard")
    .split("\n")
    .filter((file) => CODE.test(file) || file.endsWith(".md"))
    .filter((file) => !RECORDED.test(file))
    .filter((file) => existsSync(join(root, file)))
    .map((file) => ({ file, source: readFileSync(join(root, file), "utf8") }))
    .filter(({ source }) => !GENERATED.test(source));
}

export function textsIn(sources: readonly Source[]): Text[] {
  return sources.flatMap(({ file, source }) =>
    CODE.test(file) ? codeTexts(file, source) : proseOf(file, source),
  );
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

export function codeTexts(file: string, source: string): Text[] {
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed`);
  const lineAt = (offset: number) => source.slice(0, offset).split("\n").length;
  const texts: Text[] = [];
  let last = { end: -1, line: false };
  for (const { type, value, start, end } of comments) {
    const line = type === "Line";
    const words = withoutCode(value.replaceAll(/^[ \t]*\*+/gm, ""));
    const gap = source.slice(last.end, start);
    const before = texts.at(-1);
    // Adjacent line comments form one text.
    if (line && last.line && /^\n[ \t]*$/.test(gap) && before !== undefined)
      texts[texts.length - 1] = { ...before, words: `${before.words} ${words}` };
    else texts.push({ kind: "comment", file, line: lineAt(start), words });
    last = { end, line };
  }
  if (PROGRAMS.test(file)) {
    for (const { start, text } of strings(program as unknown as Node)) {
      const words = withoutCode(text);
      if (isMessage(words)) texts.push({ kind: "message", file, line: lineAt(start), words });
    }
  }
  return texts;
}

/** Returns true for a sentence, and false for a key, path, SQL statement, selector or icon. */
function isMessage(words: string): boolean {
  return (
    (words.match(/(?<![\w-])\p{L}[\p{Ll}']+(?![\w-])/gu)?.length ?? 0) > 3 &&
    !/\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|WHERE|FROM|AND|NOT NULL|SET)\b/.test(words)
  );
}

/** Yields the string literals and JSX texts below a node. Replaces values in templates by `…`. */
function* strings(node: Node): Generator<{ start: number; text: string }> {
  if ((node.type === "Literal" || node.type === "JSXText") && typeof node["value"] === "string")
    yield { start: node.start, text: node["value"] };
  if (node.type === "TemplateLiteral") {
    const quasis = node["quasis"] as { value: { cooked: string | null } }[];
    yield { start: node.start, text: quasis.map(({ value }) => value.cooked ?? "").join("…") };
  }
  for (const child of Object.values(node).flat()) {
    if (typeof child === "object" && child !== null && "type" in child)
      yield* strings(child as Node);
  }
}

/** Returns the numbers of prose and comment lines that are longer than 120 characters and can be wrapped. */
export function longLines(file: string, source: string): number[] {
  const text = CODE.test(file) ? source : withoutBlocks(source);
  const prose = CODE.test(file)
    ? /^\s*(?:\/\/|\/?\*)(?! biome-ignore)/
    : /^\s*(?!\s|\||#|!?\[[^\]]*\]\()/;
  return text.split("\n").flatMap((line, index) => {
    const wraps = / /.test([...line.trimStart()].slice(4, 120).join(""));
    return [...line].length > 120 && wraps && prose.test(line) ? [index + 1] : [];
  });
}

/** Empties code blocks and comments in a page. Line numbers stay the same. */
function withoutBlocks(page: string): string {
  const blank = (block: string) => block.replaceAll(/[^\n]+/g, "");
  return page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, blank).replaceAll(/<!--[\s\S]*?-->/g, blank);
}

export function proseOf(file: string, source: string): Text[] {
  const texts: Text[] = [];
  let open = false;
  for (const [index, line] of withoutBlocks(source).split("\n").entries()) {
    const starts = /^\s*(?:[-*] |\d+\. |\||#)/.test(line);
    if (line.trim() === "") open = false;
    else if (open && !starts) {
      const before = texts.pop();
      if (before !== undefined) texts.push({ ...before, words: `${before.words} ${line.trim()}` });
    } else {
      texts.push({ kind: "prose", file, line: index + 1, words: line.trim() });
      open = !/^\s*(?:\||#)/.test(line);
    }
  }
  return texts.map((one) => ({ ...one, words: withoutCode(one.words) }));
}

function withoutCode(text: string): string {
  return text
    .replaceAll(/\n\s*\n {4,}[^\n]*(?:\n {4,}[^\n]*)*/g, " … ")
    .replaceAll(/`[^`]*`/g, "…")
    .replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/\{@link ([^}]*)\}/g, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();
}
