/** Width of the CLI's output, in columns. */
export const WIDTH = 80;

/** A part of a word. A command in backticks or a flag in brackets stays on one line. */
const PART = /`[^`\n]*`|\[[^[\]\n]*\]|[^\s`[]+|\S/g;

/** Wraps text after a label. Continuation lines align with the first. */
export function fill(label: string, text = "", width: number = WIDTH): string {
  const indent = " ".repeat(label.length);
  const lines: string[] = [];
  let line = label;
  let isEmpty = true;
  for (const word of wordsIn(text)) {
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

/** Yields the texts between white space. */
function* wordsIn(text: string): Generator<string> {
  let word = "";
  let end = 0;
  for (const { 0: part, index } of text.matchAll(PART)) {
    if (index > end && word !== "") {
      yield word;
      word = "";
    }
    word += part;
    end = index + part.length;
  }
  if (word !== "") yield word;
}

/** Wraps a line, and aligns continuation lines after its indentation and bullet. */
export function fillLine(line: string): string {
  const [label = ""] = /^ *(?:- |→ |✖ )?/.exec(line) ?? [];
  return line.length <= WIDTH ? line : fill(label, line.slice(label.length));
}
