import { fourAt } from "./walk.ts";

export interface Box {
  readonly type: string;
  /** What is in it, behind its size and type. */
  readonly body: Buffer;
}

/** Boxes that follow one another. */
export interface Boxes {
  readonly boxes: readonly Box[];
  readonly types: ReadonlySet<string>;
  /** Behind the last one. */
  readonly end: number;
  /** The last one is longer than the file. */
  readonly cut: boolean;
}

/** Walks boxes of the ISO base media format (ISO/IEC 14496-12, 4.2), not what is inside of them: of AVIF and of MP4. */
export function walkBoxes(bytes: Buffer, from: number): Boxes {
  const boxes: Box[] = [];
  const done = (end: number, cut: boolean): Boxes => ({
    ...{ boxes, end, cut },
    types: new Set(boxes.map(({ type }) => type)),
  });
  let at = from;
  while (at + 8 <= bytes.length) {
    const type = fourAt(bytes, at + 4);
    const size = sizeOf(bytes, at, type);
    if (!/^[ -~\xa9]{4}$/.test(type) || size < 8) break;
    if (at + size > bytes.length) return done(at, true);
    const head = bytes.readUInt32BE(at) === 1 ? 16 : 8;
    boxes.push({ type, body: bytes.subarray(at + head, at + size) });
    at += size;
  }
  return done(at, false);
}

/** In bytes; 0 means to the end of the file (of data alone), and 1 that the size follows in eight bytes. */
function sizeOf(bytes: Buffer, at: number, type: string): number {
  const size = bytes.readUInt32BE(at);
  if (size === 0 && type === "mdat") return bytes.length - at;
  if (size !== 1) return size;
  return at + 16 <= bytes.length ? Number(bytes.readBigUInt64BE(at + 8)) : Number.POSITIVE_INFINITY;
}
