import { createHash, timingSafeEqual } from "node:crypto";

/** Compares two secrets in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

/** Hashes a text, because the constant-time comparison needs equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Returns whether an `Authorization` header contains this bearer token. Compares in constant time. */
export function isBearer(header: string | readonly string[] | undefined, token: string): boolean {
  const given = typeof header === "string" && /^Bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
  return typeof given === "string" && isSameSecret(given, token);
}

/** Minimum length of a secret whose end is shown, in characters. The rest must be too long to guess. */
const MIN_SHOWN_LENGTH = 16;

/** The part of a webhook secret that is the same for every bot. */
const PREFIX = /^whsec_/;

/**
 * Returns a secret's last four characters, which distinguish secrets during a rotation. Returns `undefined` for a
 * short secret.
 */
export function lastFour(secret: string): string | undefined {
  return secret.replace(PREFIX, "").length < MIN_SHOWN_LENGTH ? undefined : secret.slice(-4);
}
