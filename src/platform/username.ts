import { invalid } from "./error.ts";

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
