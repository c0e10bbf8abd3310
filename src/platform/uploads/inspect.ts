import { asBuffer } from "../../core/bytes.ts";
import { type ImageKind, imageKindOf } from "../../core/image-kind.ts";
import type { Size } from "./pixels.ts";
import { sizeOf } from "./size.ts";

/** The longest side, in pixels: JPEG and GIF cannot say more, and nobody has so large a PNG in 5 MB. */
export const MAX_SIDE = 65_535;

export interface ImageFacts extends Size {
  readonly kind: ImageKind;
}

/**
 * Reads the kind and the size of an image from its headers. Pixels are not decoded.
 *
 * @returns the facts, or a clause that says why the bytes are no image
 */
export function inspect(bytes: Uint8Array): ImageFacts | string {
  const kind = imageKindOf(bytes);
  if (kind === undefined) return "the bytes are no PNG, JPEG, WebP, GIF or AVIF image";
  const size = sizeOf(asBuffer(bytes), kind);
  if (size === undefined || size.width === 0 || size.height === 0) {
    return `the image (${kind}) has no size`;
  }
  const { width, height } = size;
  if (Math.max(width, height) > MAX_SIDE) {
    return `the image (${kind}) says that it is ${width} × ${height} pixels, which it cannot hold`;
  }
  return { kind, width, height };
}
