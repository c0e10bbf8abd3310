import { cutOff, fourAt, type Walk } from "./walk.ts";

/** Walks the chunks of a WebP (RFC 9649, section 2.3) as far as its RIFF header says that it goes. */
export function walkWebp(bytes: Buffer): Walk {
  if (bytes.length < 20) return cutOff("its pixels");
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) return cutOff("the end that its header gives");
  const first = fourAt(bytes, 12);
  if (!["VP8 ", "VP8L", "VP8X"].includes(first)) {
    return { problem: `it begins with a chunk "${printable(first)}"` };
  }
  let hasPixels = false;
  let at = 12;
  while (at + 8 <= end) {
    hasPixels ||= ["VP8 ", "VP8L", "ANMF"].includes(fourAt(bytes, at));
    const length = bytes.readUInt32LE(at + 4);
    // A chunk of odd length is followed by a byte that its length does not count.
    at += 8 + length;
    if (at > end) return { problem: "a chunk of it reaches past its end" };
    at += length % 2;
  }
  return hasPixels ? { end: Math.min(at, bytes.length) } : { problem: "it has no pixels" };
}

function printable(text: string): string {
  return text.replace(/[^ -~]/g, "?");
}
