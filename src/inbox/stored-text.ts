/**
 * Form in which both stores keep texts. PostgreSQL refuses NUL, and UTF-8 cannot represent lone surrogates: SQLite
 * would store all of them as the same character, so two conversations would share a lane. Such characters are therefore
 * escaped. Different texts always have different forms, and an ordinary text is its own form.
 */

import { hash } from "node:crypto";

/** Escape character, which is rare in text and doubled where it occurs. */
const ESCAPE = "\u001a";

/** Characters to escape. With the `u` flag, a surrogate pair is one character and does not match. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters.
const UNSTORABLE = /[\0\u001a\ud800-\udfff]/u;
const EVERY_UNSTORABLE: RegExp = new RegExp(UNSTORABLE, "gu");

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for a control character.
const ESCAPED = /\u001a(\u001a|[0-9a-f]{4})/g;

export function toStored(text: string): string {
  // Nearly all texts need no escape, and this check is cheaper.
  if (!UNSTORABLE.test(text)) return text;
  return text.replace(EVERY_UNSTORABLE, (character) =>
    character === ESCAPE
      ? ESCAPE + ESCAPE
      : `${ESCAPE}${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(ESCAPED, (_, rest: string) =>
    rest === ESCAPE ? ESCAPE : String.fromCharCode(Number.parseInt(rest, 16)),
  );
}

/** Returns the stored form of a statement's value, or of each text in a list. */
export function packValue(value: unknown): unknown {
  if (typeof value === "string") return toStored(value);
  return Array.isArray(value) ? value.map(packValue) : value;
}

/** Restores the texts of a row in place. The driver created the row for this call only. */
export function unpackRow<Row extends object>(row: Row): Row {
  const columns: Record<string, unknown> = Object(row);
  for (const name in columns) {
    const value = columns[name];
    if (typeof value === "string") columns[name] = fromStored(value);
  }
  return row;
}

/**
 * Limit for stored keys, in bytes. Keys are indexed, and PostgreSQL refuses an index entry of more than 2,704 bytes. An
 * event with a longer key would make its batch fail forever.
 */
export const MAX_KEY_BYTES = 512;

export function isLongKey(key: string): boolean {
  // Each UTF-16 unit takes at most five bytes.
  return key.length > MAX_KEY_BYTES / 5 && Buffer.byteLength(toStored(key)) > MAX_KEY_BYTES;
}

/** Shortens a long key and appends a hash of the whole key, so that long keys stay distinct. */
export function shortenKey(key: string): string {
  return isLongKey(key) ? `${key.slice(0, 64)}…${digest(toStored(key))}` : key;
}

/** @param text without lone surrogates, which would all have the same digest */
export function digest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 32);
}
