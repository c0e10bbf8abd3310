import { walkBoxes } from "./boxes.ts";
import { cutOff, type Walk } from "./walk.ts";

/**
 * Walks the outer boxes of an AVIF: `meta` describes a still, `moov` a sequence. Their pixels are in an
 * `mdat` of their own, or, of a small still, in an `idat` inside of `meta`.
 */
export function walkAvif(bytes: Buffer): Walk {
  const { types, end, cut } = walkBoxes(bytes, 0);
  if (cut) return cutOff("the end that its last box gives");
  const isDescribed = types.has("meta") || types.has("moov");
  const hasPixels = isDescribed && (types.has("mdat") || bytes.includes("idat"));
  return hasPixels ? { end } : { problem: "it has no pixels" };
}
