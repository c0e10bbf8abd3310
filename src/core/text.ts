// Functions that take linear time for every text, because users' texts may be made to take long.

/** Removes characters from the end of a text. An expression such as `/x+$/` takes quadratic time. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A letter in a real text has fewer combining marks. */
const MANY_MARKS = /\p{M}{64}/u;

/**
 * Normalizes a text, unless a letter in it has 64 or more combining marks. Sorting the marks of a letter takes
 * quadratic time: 10 s for 80,000 marks.
 */
export function normalizeText(text: string, form: "NFC" | "NFKD" = "NFC"): string {
  return MANY_MARKS.test(text) ? text : text.normalize(form);
}
