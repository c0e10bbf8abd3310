/** In columns. Texts of the command line fit into it. */
export const WIDTH = 80;

/** A word. A command in backticks and a flag in brackets stay in one line. */
const WORD = /(?:`[^`\n]*`|\[[^\]\n]*\]|\S)+/g;

/** Fills lines of a text behind a label; its further lines begin below its first one. */
export function fill(label: string, text = "", width: number = WIDTH): string {
  const indent = " ".repeat(label.length);
  const lines: string[] = [];
  let line = label;
  let isEmpty = true;
  for (const [word] of text.matchAll(WORD)) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line].join("\n");
}

/** Fills a line. Further lines begin below the text behind its indentation and its mark. */
export function fillLine(line: string): string {
  const [label = ""] = /^ *(?:- |→ |✖ )?/.exec(line) ?? [];
  return line.length <= WIDTH ? line : fill(label, line.slice(label.length));
}
