import { cutOff, type Walk } from "./walk.ts";

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

const CUT: Walk = cutOff("its end (trailer)");

/** Walks the blocks of a GIF (GIF89a, appendix B), from its header to its trailer. */
export function walkGif(bytes: Buffer): Walk {
  let hasImage = false;
  for (let at = 13 + tableSize(bytes, 10); at < bytes.length; ) {
    const block = bytes.readUInt8(at);
    if (block === TRAILER) return hasImage ? { end: at + 1 } : { problem: "it has no pixels" };
    if (block === EXTENSION) {
      at = endOfData(bytes, at + 2);
    } else if (block === IMAGE) {
      hasImage = true;
      at = endOfData(bytes, at + 11 + tableSize(bytes, at + 9));
    } else if (block === 0) {
      // Left over by some encoders, and skipped by every decoder.
      at += 1;
    } else {
      return { problem: `there is no block at byte ${at}` };
    }
  }
  return CUT;
}

/** The size of the colour table that the flags at this place announce, in bytes. */
function tableSize(bytes: Buffer, at: number): number {
  const flags = bytes[at] ?? 0;
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** Data comes in pieces of up to 255 bytes, and ends with an empty one. */
function endOfData(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; ) {
    const length = bytes.readUInt8(at);
    at += 1 + length;
    if (length === 0) return at;
  }
  return bytes.length;
}
