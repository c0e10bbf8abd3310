import { PlatformError } from "./error.ts";

/** The longest text of a post, comment or message, in characters (code points). Not documented. */
export const MAX_TEXT_LENGTH = 4000;

/** Images per content (section 8). */
export const MAX_IMAGES = 4;

/**
 * Images alone are enough (section 4).
 *
 * @throws {PlatformError} 400 EMPTY, TOO_LONG
 */
export function checkText(text: string, { images = 0 }: { readonly images?: number } = {}): void {
  if (text.trim() === "" && images === 0)
    throw new PlatformError(400, "EMPTY", "There is nothing to send.");
  // The cheap test first: counting code points copies the text.
  if (text.length > MAX_TEXT_LENGTH && [...text].length > MAX_TEXT_LENGTH) {
    throw new PlatformError(400, "TOO_LONG", `A text has at most ${MAX_TEXT_LENGTH} characters.`);
  }
}

/**
 * The beginning of a text, by code point: half a surrogate pair is not a character. It is a copy, which does not
 * keep the whole in memory.
 */
export function beginningOf(text: string, characters: number): string {
  return [...text.slice(0, 2 * characters)].slice(0, characters).join("");
}
