import { RULES } from "./rules.ts";
import type { Kind, Text } from "./texts.ts";

const KINDS: readonly Kind[] = ["comment", "message", "prose"];

/** Returns a Markdown table with each rule's matches per 10,000 words and the words in a sentence, by kind of text. */
export function countTable(texts: readonly Text[]): string {
  const by = (kind: Kind) => texts.filter((text) => text.kind === kind);
  const cells = (title: string, cell: (of: readonly Text[], kind: Kind) => string) =>
    `| ${title} | ${KINDS.map((kind) => cell(by(kind), kind)).join(" | ")} |`;
  return [
    `| per 10,000 words | ${KINDS.map((kind) => `${kind}s`).join(" | ")} |`,
    `|---|${"--:|".repeat(KINDS.length)}`,
    ...RULES.map(({ name, pattern, kinds }) =>
      cells(name, (of, kind) => {
        if (kinds !== undefined && !kinds.includes(kind)) return "";
        const found = of.filter(({ words }) => pattern.test(words)).length;
        return String(Math.round((found * 100_000) / countWords(of)) / 10);
      }),
    ),
    cells("words in a sentence", (of) => meanSentence(of).toFixed(1)),
    cells("texts", (of) => String(of.length)),
    cells("words", (of) => String(countWords(of))),
  ].join("\n");
}

function countWords(texts: readonly Text[]): number {
  return texts.reduce((sum, { words }) => sum + wordsOf(words), 0);
}

function wordsOf(text: string): number {
  return text.split(" ").filter((word) => /[\p{L}\p{N}…]/u.test(word)).length;
}

/** Returns the mean length of the sentences with three words or more. Skips headings and table rows. */
function meanSentence(texts: readonly Text[]): number {
  const lengths = texts
    .filter(({ words }) => !/^[|#]/.test(words))
    .flatMap(({ words }) => words.split(/(?<=[.!?])\s+(?=[\p{Lu}…"[])/u))
    .map(wordsOf)
    .filter((count) => count > 2);
  return lengths.reduce((sum, count) => sum + count, 0) / lengths.length;
}
