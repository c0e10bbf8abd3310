/**
 * PostgreSQL refuses the character NUL, and UTF-8 has no halves of characters (lone surrogates). One of them in the name of
 * a lane would fail its whole batch for ever. Both are stored as an escape, which begins with a control character that
 * texts hardly have, and that is doubled if they have it.
 */

const ESCAPE = "\u001a";

/** Characters that cannot be stored. With the flag "u" a pair of surrogates is one character, and stays. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSTORABLE = /[\0\u001a\ud800-\udfff]/gu;

/** A text as it is stored. */
function toStored(text: string): string {
  // Nearly all texts can be stored, and this search is cheaper.
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(ESCAPE)) return text;
  return text.replace(UNSTORABLE, (character) =>
    character === ESCAPE
      ? ESCAPE + ESCAPE
      : `${ESCAPE}${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The text that was stored. */
function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for.
  return text.replace(/\u001a(\u001a|[0-9a-f]{4})/g, (_, rest: string) =>
    rest === ESCAPE ? ESCAPE : String.fromCharCode(Number.parseInt(rest, 16)),
  );
}

/** Values of a statement: texts and lists of texts are escaped, and the others pass through. */
export function packValues(values: readonly unknown[]): unknown[] {
  return values.map((value) => (Array.isArray(value) ? value.map(pack) : pack(value)));
}

function pack(value: unknown): unknown {
  return typeof value === "string" ? toStored(value) : value;
}

/** Changes the row in place, because the driver has made it for this call alone. */
export function unpackRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const name in row) {
    const value = row[name];
    if (typeof value === "string") row[name] = fromStored(value);
  }
  return row;
}
