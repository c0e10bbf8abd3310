import { cutOff, fourAt, type Walk } from "./walk.ts";

/** Walks the chunks of a PNG (W3C PNG, section 5), from IHDR to IEND. */
export function walkPng(bytes: Buffer): Walk {
  let hasPixels = false;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = fourAt(bytes, at + 4);
    const next = at + 12 + length;
    if (!/^[A-Za-z]{4}$/.test(type)) return { problem: `a chunk at byte ${at} has no name` };
    if (at === 8 && (type !== "IHDR" || length !== 13)) {
      return { problem: "it does not begin with its header (IHDR)" };
    }
    if (next > bytes.length) break;
    if (type === "IDAT") hasPixels = true;
    if (type === "IEND") return endOf(next, length, hasPixels);
    at = next;
  }
  return cutOff("its end (IEND)");
}

function endOf(end: number, length: number, hasPixels: boolean): Walk {
  if (!hasPixels) return { problem: "it has no pixels (IDAT)" };
  return length === 0 ? { end } : { problem: "its end (IEND) holds data" };
}
