import { asBuffer, type ImageKind, imageKindOf } from "../../core/image-kind.ts";

/** An image's size in pixels, as stated in the file's headers. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Maximum length of a side, in pixels. JPEG and GIF cannot exceed it, and no PNG of 5 MB comes close. */
export const MAX_SIDE = 65_535;

export interface ImageFacts extends Size {
  readonly kind: ImageKind;
}

/**
 * Reads an image's type and size from its headers, without decoding pixels.
 *
 * @returns the type and size, or the reason why the bytes are not an image
 */
export function inspect(bytes: Uint8Array): ImageFacts | string {
  const kind = imageKindOf(bytes);
  if (kind === undefined) return "the bytes are not a PNG, JPEG, WebP, GIF or AVIF image";
  const size = sizeOf(asBuffer(bytes), kind);
  if (size === undefined || size.width === 0 || size.height === 0) {
    return `the image (${kind}) has no size`;
  }
  const { width, height } = size;
  if (Math.max(width, height) > MAX_SIDE) {
    return `the image (${kind}) has an impossible size of ${width} × ${height} pixels`;
  }
  return { kind, width, height };
}

const readers: Readonly<Record<ImageKind, (bytes: Buffer) => Size | undefined>> = {
  png: (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  gif: (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  jpeg: jpegSize,
  webp: webpSize,
  avif: avifSize,
};

function sizeOf(bytes: Buffer, kind: ImageKind): Size | undefined {
  try {
    return readers[kind](bytes);
  } catch (error) {
    // The headers end too early.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Reads the main image's frame header, which follows other segments. Previews in the metadata have their own headers
 * (ITU-T T.81, B.2.2).
 */
function jpegSize(bytes: Buffer): Size | undefined {
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes.readUInt8(at + 1);
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    // Fill bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const length = bytes.readUInt16BE(at + 2);
    if (isFrame(marker)) {
      if (length < 11) return undefined;
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    // The file ends, or pixel data begins, before a frame header.
    if (marker === 0xd9 || marker === 0xda || length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}

/** Markers C4, C8 and CC are tables or reserved, not frames. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** Reads a canvas (VP8X), whose still image must have the same size, or a single image (RFC 9649). */
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

/** A VP8 key frame begins with three bytes of flags and a start code (RFC 6386, 9.1). */
function lossySize(body: Buffer): Size | undefined {
  if (body.length < 10 || body.readUIntBE(3, 3) !== 0x9d012a) return undefined;
  return { width: body.readUInt16LE(6) & 0x3fff, height: body.readUInt16LE(8) & 0x3fff };
}

/** A signature byte, then the width and height, each minus one and in 14 bits (RFC 9649, 3.4). */
function losslessSize(body: Buffer): Size | undefined {
  if (body.length < 5 || body.readUInt8(0) !== 0x2f) return undefined;
  const bits = body.readUInt32LE(1);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

function isSame(canvas: Size | undefined, picture: Size | undefined): boolean {
  if (canvas === undefined || picture === undefined) return picture !== undefined;
  return canvas.width === picture.width && canvas.height === picture.height;
}

interface Box {
  readonly type: string;
  /** Content of the box, after its size and type. */
  readonly body: Buffer;
}

/** Length of the version and flags at the start of many boxes, in bytes. */
const VERSION_AND_FLAGS = 4;

/**
 * Reads the size of an AVIF, which is a property (`ispe`) of its primary item (ISO/IEC 23008-12, 6.5.3). Tiles,
 * previews and masks are items with their own sizes. In an animated AVIF, the primary item is a still image.
 */
function avifSize(bytes: Buffer): Size | undefined {
  const meta = find(boxesIn(bytes, 0), "meta");
  const described = meta === undefined ? [] : boxesIn(meta, VERSION_AND_FLAGS);
  const primary = primaryItem(find(described, "pitm"));
  const properties = boxesIn(find(described, "iprp") ?? Buffer.alloc(0), 0);
  const container = boxesIn(find(properties, "ipco") ?? Buffer.alloc(0), 0);
  const associations = properties.filter(({ type }) => type === "ipma");
  for (const { body } of associations) {
    const size = propertiesOf(body, primary)
      .map((number) => container[number - 1])
      .find((property) => property?.type === "ispe")?.body;
    if (size !== undefined && size.length >= 12) {
      return { width: size.readUInt32BE(4), height: size.readUInt32BE(8) };
    }
  }
  return undefined;
}

function find(boxes: readonly Box[], wanted: string): Buffer | undefined {
  return boxes.find(({ type }) => type === wanted)?.body;
}

function primaryItem(pitm: Buffer | undefined): number | undefined {
  const idBytes = pitm?.[0] === 0 ? 2 : 4;
  if (pitm === undefined || pitm.length < VERSION_AND_FLAGS + idBytes) return undefined;
  return pitm.readUIntBE(VERSION_AND_FLAGS, idBytes);
}

/** Returns an item's properties, as positions in the container, starting at 1. Empty if the box is malformed. */
function propertiesOf(ipma: Buffer, item: number | undefined): number[] {
  if (ipma.length < VERSION_AND_FLAGS + 4) return [];
  const idBytes = ipma.readUInt8(0) === 0 ? 2 : 4;
  const numberBytes = (ipma.readUInt8(3) & 1) === 0 ? 1 : 2;
  // The first bit marks the property as essential.
  const mask = numberBytes === 1 ? 0x7f : 0x7fff;
  let at = VERSION_AND_FLAGS + 4;
  for (let left = ipma.readUInt32BE(VERSION_AND_FLAGS); left > 0; left -= 1) {
    if (at + idBytes + 1 > ipma.length) return [];
    const id = ipma.readUIntBE(at, idBytes);
    const count = ipma.readUInt8(at + idBytes);
    at += idBytes + 1;
    const end = at + count * numberBytes;
    if (end > ipma.length) return [];
    if (id === item) {
      return Array.from({ length: count }, (_, index) => {
        return ipma.readUIntBE(at + index * numberBytes, numberBytes) & mask;
      });
    }
    at = end;
  }
  return [];
}

/** Reads consecutive boxes of the ISO base media format (ISO/IEC 14496-12, 4.2). Does not read nested boxes. */
function boxesIn(bytes: Buffer, from: number): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= bytes.length; ) {
    // A size of 0 means that the box extends to the end of the file. A size of 1 means that the size follows in eight
    // bytes.
    const size = bytes.readUInt32BE(at);
    const head = size === 1 ? 16 : 8;
    if (at + head > bytes.length) break;
    const length = size === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : size || bytes.length - at;
    if (length < head || at + length > bytes.length) break;
    const type = bytes.toString("latin1", at + 4, at + 8);
    boxes.push({ type, body: bytes.subarray(at + head, at + length) });
    at += length;
  }
  return boxes;
}
