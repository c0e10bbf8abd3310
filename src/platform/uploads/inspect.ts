import { structureProblem } from "../../client/images/structure/structure.ts";
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
 * Looks at the bytes of an image, which must be one whole image of the five kinds, and nothing besides, as
 * the client checks it (docs/images.md). Pixels are not decoded.
 *
 * @returns what it is, or a clause that says why it is none
 */
export function inspect(bytes: Uint8Array): ImageFacts | string {
  const kind = imageKindOf(bytes);
  if (kind === undefined) return "the bytes are no PNG, JPEG, WebP, GIF or AVIF image";
  const buffer = asBuffer(bytes);
  const problem = structureProblem(buffer, kind);
  if (problem !== undefined) return `the image (${kind}) is not clean: ${problem}`;
  const size = sizeOf(buffer, kind);
  if (size === undefined || size.width === 0 || size.height === 0) {
    return `the image (${kind}) has no size`;
  }
  const { width, height } = size;
  if (Math.max(width, height) > MAX_SIDE) {
    return `the image (${kind}) says that it is ${width} × ${height} pixels, which it cannot hold`;
  }
  return { kind, width, height };
}
