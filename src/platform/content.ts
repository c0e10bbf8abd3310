import { PlatformError } from "./error.ts";

/** The longest text of a post, comment or message, in characters (code points). Not documented. */
export const MAX_TEXT_LENGTH = 4000;

/** @throws {PlatformError} 400 EMPTY, TOO_LONG */
export function checkText(text: string): void {
  if (text.trim() === "") throw new PlatformError(400, "EMPTY", "There is nothing to send.");
  // The cheap test first: counting code points copies the text.
  if (text.length > MAX_TEXT_LENGTH && [...text].length > MAX_TEXT_LENGTH) {
    throw new PlatformError(400, "TOO_LONG", `A text has at most ${MAX_TEXT_LENGTH} characters.`);
  }
}
