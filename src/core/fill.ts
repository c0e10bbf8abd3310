/** Width of the CLI's output, in columns. */
export const WIDTH = 80;

/** One word. A command in backticks or a flag in brackets stays on one line. */
const WORD = /(?:`[^`\n]*`|\[[^\]\n]*\]|\S)+/g;

/** Wraps text after a label. Continuation lines align with the first. */
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

/** Wraps a line, and aligns continuation lines after its indentation and bullet. */
export function fillLine(line: string): string {
  const [label = ""] = /^ *(?:- |→ |✖ )?/.exec(line) ?? [];
  return line.length <= WIDTH ? line : fill(label, line.slice(label.length));
}
