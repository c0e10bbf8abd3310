import { PlatformError } from "../error.ts";
import type { Images, Target } from "../store/images.ts";

/**
 * Attaches uploads to content, in their order, and consumes their keys. To be called in a transaction: a key that is
 * not valid undoes all of it.
 *
 * @throws {PlatformError} 400 INVALID_IMAGE_KEY
 */
export function attachUploads(
  images: Images,
  keys: readonly string[],
  place: Target & { readonly owner: number; readonly now: number },
): void {
  for (const [position, key] of keys.entries()) {
    if (images.attach(key, { ...place, position })) continue;
    throw new PlatformError(400, "INVALID_IMAGE_KEY", `imageKeys.${position} is not valid.`);
  }
}
