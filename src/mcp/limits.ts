/**
 * Bytes of one message over HTTP, where anyone with a token may send it. An image of 5 MB is 7 MB of base64
 * (section 4, rule 1), and up to 5 % more in lines.
 */
export const MAX_HTTP_MESSAGE_BYTES: number = 8 * 1024 * 1024;

/**
 * Bytes of one message over stdio. A longer one ends the connection, so an image that is too large fits and gets an
 * error of its own.
 */
export const MAX_STDIO_MESSAGE_BYTES: number = 20 * 1024 * 1024;
