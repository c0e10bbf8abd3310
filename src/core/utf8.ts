const decoder = new TextDecoder();

/**
 * Decodes UTF-8 from another program. Invalid bytes become U+FFFD, because a text cut inside a character must not make
 * the rest unreadable. Removes a byte order mark.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
