/** A field that holds an id, with a number that may be beyond 2^53. Checked first, because few texts have one. */
const LONG_ID = /(?:"id|Id|ID|_id)"\s*:\s*-?[0-9]{16}/;

const ID_FIELD = /^id$|(?:Id|ID|_id)$/;

/**
 * Parses JSON as `JSON.parse` does, and keeps every digit of an id: an integer beyond 2^53 in a field named `id`,
 * or ending in `Id`, `ID` or `_id`, becomes a text with its exact digits.
 *
 * @throws {SyntaxError} when the text is not JSON
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!LONG_ID.test(text)) return value;
  try {
    return JSON.parse(text, keepDigits);
  } catch {
    // A reviver recurses, and a hostile depth exhausts its stack. Such an event is refused for its depth later.
    return value;
  }
}

/** @param context absent before Node 21 */
function keepDigits(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || !ID_FIELD.test(key)) return value;
  const source = context?.source ?? "";
  return /^-?[0-9]+$/.test(source) ? source : value;
}
