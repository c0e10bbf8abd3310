import { invalid, PlatformError } from "./error.ts";

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

/** A username as it is kept: in lower case, without the `@` that people put before it. */
export function plainUsername(given: string): string {
  return given.replace(/^@/, "").toLowerCase();
}

/**
 * The plain username in a field. A dot or a dash at its end would be read as punctuation, and no text could
 * mention it.
 *
 * @throws {PlatformError} 400 VALIDATION
 */
export function usernameIn(given: string, field: string): string {
  const username = plainUsername(given);
  if (/^[a-z0-9_](?:[a-z0-9_.-]{0,28}[a-z0-9_])?$/.test(username)) return username;
  throw invalid(
    `${field} must be a username: 1 to 30 letters, digits, dots, dashes, underscores; no dot or dash first or last`,
  );
}
