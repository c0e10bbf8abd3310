import type { ImageKind } from "../../../core/image-kind.ts";
import { walkAvif } from "./avif.ts";
import { foreignIn } from "./foreign.ts";
import { walkGif } from "./gif.ts";
import { walkJpeg } from "./jpeg.ts";
import { walkPng } from "./png.ts";
import { trailerProblem } from "./trailer.ts";
import type { Walk } from "./walk.ts";
import { walkWebp } from "./webp.ts";

const walks: Readonly<Record<ImageKind, (bytes: Buffer) => Walk>> = {
  png: walkPng,
  jpeg: (bytes) => walkJpeg(bytes),
  gif: walkGif,
  webp: walkWebp,
  avif: walkAvif,
};

/**
 * Why the bytes are not one whole image of the kind as which they begin, and nothing besides: a clause
 * for a message; undefined when they are. Pixels are not decoded. Never throws, and takes time in
 * proportion to the size.
 */
export function structureProblem(bytes: Buffer, kind: ImageKind): string | undefined {
  // First, for it says more than that something is behind the end.
  const foreign = foreignIn(bytes, kind);
  if (foreign !== undefined) return `it holds ${foreign}, which an image must not`;
  const walk = walks[kind](bytes);
  return "problem" in walk ? walk.problem : trailerProblem(bytes, walk.end, kind);
}
