import { PlatformError } from "../error.ts";
import type { BodyLimit } from "../http/body.ts";

/** The largest image, in bytes: 5 MB (section 8), read as 5 × 1024 × 1024, the larger of its meanings. */
export const MAX_IMAGE_BYTES: number = 5 * 1024 * 1024;

/** The largest body of an upload, in bytes: base64 takes four characters for three bytes. */
const MAX_UPLOAD_BODY_BYTES = 7 * 1024 * 1024;

/** 400 TOO_LARGE (section 7). */
export function imageTooLarge(): PlatformError {
  return new PlatformError(400, "TOO_LARGE", `An image holds at most ${MAX_IMAGE_BYTES} bytes.`);
}

/** Limit of an upload, as JSON or as multipart/form-data. */
export const uploadLimit: BodyLimit = { maxBytes: MAX_UPLOAD_BODY_BYTES, tooLarge: imageTooLarge };
