/**
 * A message of a client is at most so long, in bytes: an image of 5 MB as base64 three times over, so that one that is
 * too large is told so.
 */
export const MAX_MESSAGE_BYTES: number = 20 * 1024 * 1024;
