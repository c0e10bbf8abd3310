import type { Size } from "./pixels.ts";

interface Box {
  readonly type: string;
  /** Content behind size and type. */
  readonly body: Buffer;
}

/** Version and flags, which stand at the beginning of many boxes. */
const VERSION_AND_FLAGS = 4;

/**
 * The size of an AVIF is a property (`ispe`) of its primary item (ISO/IEC 23008-12, 6.5.3); tiles, previews
 * and masks are items with sizes of their own. A moving one has a still of itself as its primary item.
 */
export function avifSize(bytes: Buffer): Size | undefined {
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

/** The properties of an item, by their places in the container, from 1 up. Empty where the box makes no sense. */
function propertiesOf(ipma: Buffer, item: number | undefined): number[] {
  if (ipma.length < VERSION_AND_FLAGS + 4) return [];
  const idBytes = ipma.readUInt8(0) === 0 ? 2 : 4;
  const numberBytes = (ipma.readUInt8(3) & 1) === 0 ? 1 : 2;
  // The first bit says whether a reader has to understand the property.
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

/** Reads the boxes of the ISO base media format (ISO/IEC 14496-12, 4.2) that follow one another, without those inside. */
function boxesIn(bytes: Buffer, from: number): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= bytes.length; ) {
    // 0 means to the end of the file, and 1 that the size follows in eight bytes.
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
