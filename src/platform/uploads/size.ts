import type { ImageKind } from "../../core/image-kind.ts";
import { avifSize } from "./avif-size.ts";
import type { Size } from "./pixels.ts";

const readers: Readonly<Record<ImageKind, (bytes: Buffer) => Size | undefined>> = {
  png: (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  gif: (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  jpeg: jpegSize,
  webp: webpSize,
  avif: avifSize,
};

/** Reads the size of an image from its headers; undefined if they are damaged or cut off. */
export function sizeOf(bytes: Buffer, kind: ImageKind): Size | undefined {
  try {
    return readers[kind](bytes);
  } catch (error) {
    // A read behind the end of the bytes.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Reads the frame header of the picture itself, behind the segments before it: previews in the metadata have others
 * (ITU-T T.81, B.2.2).
 */
function jpegSize(bytes: Buffer): Size | undefined {
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes.readUInt8(at + 1);
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    // Fill bytes stand before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const length = bytes.readUInt16BE(at + 2);
    if (isFrame(marker)) {
      if (length < 11) return undefined;
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    // The end, or pixels before a frame header.
    if (marker === 0xd9 || marker === 0xda || length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}

/** C4, C8 and CC are tables and reserved. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** A canvas (VP8X), which must be as large as a still picture on it, or the picture alone (RFC 9649). */
function webpSize(bytes: Buffer): Size | undefined {
  let canvas: Size | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const type = bytes.toString("latin1", at, at + 4);
    const body = bytes.subarray(at + 8, at + 8 + bytes.readUInt32LE(at + 4));
    if (type === "VP8X" && body.length >= 10) {
      canvas = { width: 1 + body.readUIntLE(4, 3), height: 1 + body.readUIntLE(7, 3) };
    }
    if (type === "ANMF") return canvas;
    const picture = type === "VP8 " ? lossySize(body) : type === "VP8L" ? losslessSize(body) : null;
    if (picture !== null) return isSame(canvas, picture) ? picture : undefined;
    at += 8 + body.length + (body.length % 2);
  }
  return undefined;
}

/** A key frame of VP8 begins with three bytes of flags and a start code (RFC 6386, 9.1). */
function lossySize(body: Buffer): Size | undefined {
  if (body.length < 10 || body.readUIntBE(3, 3) !== 0x9d012a) return undefined;
  return { width: body.readUInt16LE(6) & 0x3fff, height: body.readUInt16LE(8) & 0x3fff };
}

/** A signature, then both sizes less one, in 14 bits each (RFC 9649, 3.4). */
function losslessSize(body: Buffer): Size | undefined {
  if (body.length < 5 || body.readUInt8(0) !== 0x2f) return undefined;
  const bits = body.readUInt32LE(1);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

function isSame(canvas: Size | undefined, picture: Size | undefined): boolean {
  if (canvas === undefined || picture === undefined) return picture !== undefined;
  return canvas.width === picture.width && canvas.height === picture.height;
}
