/**
 * PostgreSQL refuses the character NUL, and UTF-8 has no halves of characters (lone surrogates); one of
 * them in the name of a lane would fail its whole batch for ever. Both are stored as an escape, which
 * begins with a control character that nobody writes, and which is doubled where somebody does.
 */

const ESCAPE = "\u001a";

/** What cannot be stored as it is. With the flag "u" a pair of surrogates is one character, and stays. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSTORABLE = /[\0\u001a\ud800-\udfff]/gu;

/** A text as it is stored. */
function toStored(text: string): string {
  // Nearly all texts are as they may be, and to search them for less is cheaper.
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(ESCAPE)) return text;
  return text.replace(UNSTORABLE, (character) =>
    character === ESCAPE
      ? ESCAPE + ESCAPE
      : `${ESCAPE}${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The text again that was stored. */
function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for.
  return text.replace(/\u001a(\u001a|[0-9a-f]{4})/g, (_, rest: string) =>
    rest === ESCAPE ? ESCAPE : String.fromCharCode(Number.parseInt(rest, 16)),
  );
}

/** Values of a statement: texts, lists of texts, and what passes through. */
export function packValues(values: readonly unknown[]): unknown[] {
  return values.map((value) => (Array.isArray(value) ? value.map(pack) : pack(value)));
}

function pack(value: unknown): unknown {
  return typeof value === "string" ? toStored(value) : value;
}

/** In place, for the driver has made the row for us alone. */
export function unpackRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const name in row) {
    const value = row[name];
    if (typeof value === "string") row[name] = fromStored(value);
  }
  return row;
}
