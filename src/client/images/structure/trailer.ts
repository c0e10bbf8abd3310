import type { ImageKind } from "../../../core/image-kind.ts";
import { walkBoxes } from "./boxes.ts";
import { walkJpeg } from "./jpeg.ts";
import { samsungRecords } from "./samsung.ts";
import { fourAt } from "./walk.ts";

/** How a JPEG begins. */
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** Phones put a label behind the video of a picture; it is not longer than this, in bytes. */
const LONGEST_LABEL = 1_024;

/** Nothing, or what cameras fill up with: 00, FF, line ends. */
const padding: ReadonlySet<number | undefined> = new Set([0x00, 0xff, 0x0a, 0x0d]);

/**
 * What is wrong with the bytes behind the end of an image. Cameras and phones put more pictures (MPF,
 * gain maps) and a short video (motion photos) behind a JPEG, and records of theirs; all else there is
 * not part of the image.
 */
export function trailerProblem(bytes: Buffer, end: number, kind: ImageKind): string | undefined {
  const records = samsungRecords(bytes) ?? Number.NaN;
  let from = end;
  for (;;) {
    const at = skipPadding(bytes, from);
    // A record begins with bytes of padding.
    if (at === bytes.length || (records >= from && records <= at)) return undefined;
    const next = kind === "jpeg" ? endOfPart(bytes, at) : undefined;
    if (next === "cut") return "the picture or video behind its end is cut off";
    if (next === undefined) {
      const isLabel = from > end && bytes.length - at <= LONGEST_LABEL;
      return isLabel ? undefined : `${bytes.length - end} bytes behind its end are not part of it`;
    }
    from = next;
  }
}

/** The end of another picture or of a video. */
function endOfPart(bytes: Buffer, at: number): number | "cut" | undefined {
  if (bytes.subarray(at, at + 3).equals(JPEG)) {
    const walk = walkJpeg(bytes, at);
    return "end" in walk ? walk.end : "cut";
  }
  if (fourAt(bytes, at + 4) !== "ftyp") return undefined;
  const { types, end } = walkBoxes(bytes, at);
  // A label behind it may read as a box that is too long.
  return types.has("moov") && types.has("mdat") ? end : "cut";
}

/** What may come begins with bytes of padding as well: FF of a JPEG, 00 of the size of a box. */
function skipPadding(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && padding.has(bytes[at])) at += 1;
  if (at > from && bytes.subarray(at - 1, at + 2).equals(JPEG)) return at - 1;
  for (let begin = Math.max(from, at - 4); begin < at; begin += 1) {
    if (fourAt(bytes, begin + 4) === "ftyp") return begin;
  }
  return at;
}
