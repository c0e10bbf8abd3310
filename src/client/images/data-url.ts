import { MAX_IMAGE_BYTES, tooLarge } from "./limits.ts";
import { refuse } from "./refuse.ts";

/**
 * The bytes of `data:image/png;base64,…`. What it says about its type is not read: the bytes tell.
 *
 * @throws {ServiceBotError} INVALID_OPTION for another encoding; {ApiError} TOO_LARGE
 */
export function fromDataUrl(text: string): Uint8Array {
  const comma = text.indexOf(",");
  // A header is short; what follows it may be megabytes, and is not looked through for one.
  if (comma < 0 || !/;base64$/i.test(text.slice(0, comma))) {
    return refuse(undefined, "A data: URL with an image has the form data:image/png;base64,….");
  }
  return fromBase64(text.slice(comma + 1), "The data: URL");
}

/**
 * The bytes of an image as base64.
 *
 * @param what names it in messages
 * @throws as {@link fromDataUrl} does
 */
export function fromBase64(base64: string, what: string): Uint8Array {
  if (base64.length > Math.ceil(MAX_IMAGE_BYTES / 3) * 4) return tooLarge(what);
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    return refuse(undefined, `${what} holds characters that are not base64.`);
  }
  return Buffer.from(base64, "base64");
}
