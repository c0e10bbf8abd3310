import { fourAt } from "./walk.ts";

/** Boxes that follow one another. */
export interface Boxes {
  readonly types: ReadonlySet<string>;
  /** Behind the last one. */
  readonly end: number;
  /** The last one is longer than the file. */
  readonly cut: boolean;
}

/** Walks the outer boxes of the ISO base media format (ISO/IEC 14496-12, 4.2): of AVIF and of MP4. */
export function walkBoxes(bytes: Buffer, from: number): Boxes {
  const types = new Set<string>();
  let at = from;
  while (at + 8 <= bytes.length) {
    const type = fourAt(bytes, at + 4);
    const size = sizeOf(bytes, at, type);
    if (!/^[ -~\xa9]{4}$/.test(type) || size < 8) break;
    if (at + size > bytes.length) return { types, end: at, cut: true };
    types.add(type);
    at += size;
  }
  return { types, end: at, cut: false };
}

/** In bytes; 0 means to the end of the file (of data alone), and 1 that the size follows in eight bytes. */
function sizeOf(bytes: Buffer, at: number, type: string): number {
  const size = bytes.readUInt32BE(at);
  if (size === 0 && type === "mdat") return bytes.length - at;
  if (size !== 1) return size;
  return at + 16 <= bytes.length ? Number(bytes.readBigUInt64BE(at + 8)) : Number.POSITIVE_INFINITY;
}
