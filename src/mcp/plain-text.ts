/**
 * What ends a line, commands a terminal, turns the direction of writing or cannot be seen. The two joiners stay: emoji
 * and scripts are made with them.
 */
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text on one line, in which everything can be seen: the rest stands there as in JSON (`\u202e`). */
export function oneLine(text: string): string {
  return text.replace(unseen, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(""),
  );
}

/** A value as JSON on one line. Texts in it are in quotation marks, and none gets out of them. */
export function quoted(value: unknown): string {
  return oneLine(JSON.stringify(value));
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
