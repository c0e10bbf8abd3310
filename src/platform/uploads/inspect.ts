import { imageSize } from "image-size";
import { type ImageKind, imageKindOf } from "../../core/image-kind.ts";

/**
 * How far the size of a JPEG is looked for, in bytes: all that stands before it is metadata. Where none
 * comes, image-size goes on byte by byte, which takes seconds for 5 MB.
 */
const JPEG_HEADER_BYTES = 1024 * 1024;

export interface ImageFacts {
  readonly kind: ImageKind;
  /** Pixels, from the file's header. */
  readonly width: number;
  readonly height: number;
}

/** Looks at the bytes of an image; undefined when they are none of the five kinds. */
export function inspect(bytes: Uint8Array): ImageFacts | undefined {
  const kind = imageKindOf(bytes);
  if (kind === undefined) return undefined;
  const header = kind === "jpeg" ? bytes.subarray(0, JPEG_HEADER_BYTES) : bytes;
  try {
    // A copy in memory of its own: of a Buffer, which shares its memory with others, image-size reads on
    // behind the end, and would take what is there for the size.
    const { width, height } = imageSize(new Uint8Array(header));
    return isSize(width) && isSize(height) ? { kind, width, height } : undefined;
  } catch {
    // It throws for a header that is cut off or makes no sense.
    return undefined;
  }
}

function isSize(pixels: number): boolean {
  return Number.isInteger(pixels) && pixels > 0;
}
