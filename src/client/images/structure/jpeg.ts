import { cutOff, type Problem } from "./walk.ts";

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const FILL = 0xff;

/** A whole JPEG: its first frame header (SOF) has its size in it. */
export interface WholeJpeg {
  readonly end: number;
  /** Where the marker of the frame header is. */
  readonly frame: number;
}

/** Walks the segments of a JPEG (ITU-T T.81, annex B), from its first marker to its EOI. */
export function walkJpeg(bytes: Buffer, from = 0): WholeJpeg | Problem {
  let frame: number | undefined;
  let hasScan = false;
  for (let at = from + 2; at + 2 <= bytes.length; ) {
    const marker = bytes.readUInt8(at + 1);
    if (bytes.readUInt8(at) !== 0xff || marker === 0 || marker === SOI) {
      return { problem: `there is no segment at byte ${at}` };
    }
    if (marker === EOI) {
      if (frame === undefined || !hasScan) return { problem: "it has no pixels" };
      return { end: at + 2, frame };
    }
    if (marker === FILL || standsAlone(marker)) {
      at += marker === FILL ? 1 : 2;
      continue;
    }
    if (at + 4 > bytes.length) break;
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return { problem: `the segment at byte ${at} has no length` };
    if (isFrame(marker)) frame ??= at;
    hasScan ||= marker === SOS;
    at += 2 + length;
    if (marker === SOS) at = endOfScan(bytes, at);
  }
  return cutOff("its end (EOI)");
}

function isFrame(marker: number): boolean {
  // C4, C8 and CC are tables and reserved.
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** TEM and the restart markers have no length. */
function standsAlone(marker: number): boolean {
  return marker === 0x01 || isRestart(marker);
}

function isRestart(marker: number): boolean {
  return marker >= 0xd0 && marker <= 0xd7;
}

/** The next marker that is not part of the compressed pixels. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const marker = bytes[at + 1];
    if (marker === undefined) break;
    if (marker !== 0 && marker !== FILL && !isRestart(marker)) return at;
  }
  return bytes.length;
}
