import { PlatformError } from "../error.ts";

/** The largest image, in bytes: 5 MB (section 8), read as 5 × 1024 × 1024, the larger of its meanings. */
export const MAX_IMAGE_BYTES: number = 5 * 1024 * 1024;

/** The largest JSON body of an upload, in bytes: base64 takes four characters for three bytes. */
export const MAX_UPLOAD_BODY_BYTES: number = 7 * 1024 * 1024;

/** 400 TOO_LARGE (section 7). */
export function imageTooLarge(): PlatformError {
  return new PlatformError(400, "TOO_LARGE", `An image holds at most ${MAX_IMAGE_BYTES} bytes.`);
}
