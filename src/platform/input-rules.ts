import { invalid, PlatformError } from "./error.ts";

/**
 * Maximum text length of a post, comment or message, in code points. The platform document does not specify a limit.
 */
export const MAX_TEXT_LENGTH = 4000;

/** Maximum number of images per post, comment or message (section 8 of the platform document). */
export const MAX_IMAGES = 4;

/** Allowed names for custom event types, because the platform may add types (section 9 of the platform document). */
export const OWN_TYPE: RegExp = /^[a-z][a-z0-9_.-]{0,63}$/;

/**
 * Rejects a text that is too long, or empty without images (section 4 of the platform document).
 *
 * @throws {PlatformError} 400 EMPTY, TOO_LONG
 */
export function checkText(text: string, { images = 0 }: { readonly images?: number } = {}): void {
  if (text.trim() === "" && images === 0)
    throw new PlatformError(400, "EMPTY", "The message is empty.");
  // Check the length first, because counting the code points copies the whole text.
  if (text.length > MAX_TEXT_LENGTH && [...text].length > MAX_TEXT_LENGTH) {
    throw new PlatformError(
      400,
      "TOO_LONG",
      `The text is longer than ${MAX_TEXT_LENGTH} characters.`,
    );
  }
}

/**
 * Returns the first characters of a text, counted in code points so that no surrogate pair is split. The result is a
 * copy, because a slice would keep the whole text in memory.
 */
export function beginningOf(text: string, characters: number): string {
  return [...text.slice(0, 2 * characters)].slice(0, characters).join("");
}

/** Returns the username in lower case and without a leading `@`, as it is stored. */
export function plainUsername(given: string): string {
  return given.replace(/^@/, "").toLowerCase();
}

/**
 * Validates and normalizes a username. A trailing dot or dash is invalid, because a mention would treat it as
 * punctuation.
 *
 * @throws {PlatformError} 400 VALIDATION
 */
export function usernameIn(given: string, field: string): string {
  const username = plainUsername(given);
  if (/^[a-z0-9_](?:[a-z0-9_.-]{0,28}[a-z0-9_])?$/.test(username)) return username;
  throw invalid(
    `${field} must be a username: 1 to 30 letters, digits, dots, dashes and underscores, without a dot or dash at either end`,
  );
}
