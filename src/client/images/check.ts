import { asBuffer } from "../../core/bytes.ts";
import { type ImageKind, imageKindOf } from "../../core/image-kind.ts";
import { MAX_IMAGE_BYTES, tooLarge } from "./limits.ts";
import { looksLike } from "./looks-like.ts";
import { refuse } from "./refuse.ts";
import { structureProblem } from "./structure/structure.ts";

/**
 * Checks an image as `POST /uploads` would (section 4 of the platform document), and that it is one whole
 * image and nothing besides. Takes time in proportion to its size, also for bytes made to harm.
 *
 * @param what names the image in messages, such as `"./cat.png"`
 * @returns its kind, by its bytes
 * @throws {ApiError} TOO_LARGE, VALIDATION
 */
export function checkImage(bytes: Uint8Array, what = "The image"): ImageKind {
  if (bytes.length === 0) refuse("VALIDATION", `${what} is empty.`);
  if (bytes.length > MAX_IMAGE_BYTES) tooLarge(what);
  const buffer = asBuffer(bytes);
  const kind = imageKindOf(bytes);
  if (kind === undefined) {
    const { name, remedy } = looksLike(buffer);
    return refuse(
      "VALIDATION",
      `${what} looks like ${name}; images are PNG, JPEG, WebP, GIF or AVIF. ${remedy}`.trimEnd(),
    );
  }
  const problem = structureProblem(buffer, kind);
  if (problem !== undefined)
    refuse("VALIDATION", `${what} is not a clean ${names[kind]}: ${problem}.`);
  return kind;
}

const names: Readonly<Record<ImageKind, string>> = {
  png: "PNG",
  jpeg: "JPEG",
  webp: "WebP",
  gif: "GIF",
  avif: "AVIF",
};
