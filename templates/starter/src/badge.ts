import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";

/** In pixels. */
const SQUARE = 16;
const SQUARES = 5;

/** Draws an avatar as a PNG: a symmetric pattern of 5 × 5 squares, derived from the username. */
export function badge(username: string): Uint8Array {
  const hash = createHash("sha256").update(username).digest();
  const size = SQUARE * SQUARES;
  const rows = Array.from({ length: size }, (_, y) => {
    const row = Buffer.alloc(1 + size); // Each row begins with its filter type. 0 is no filter.
    for (let x = 0; x < size; x++) {
      const [across, down] = [Math.floor(x / SQUARE), Math.floor(y / SQUARE)];
      row[1 + x] = (hash[down * 3 + Math.min(across, SQUARES - 1 - across)] ?? 0) & 1;
    }
    return row;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 3], 8); // 8 bits per pixel, which index the palette.
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from([255, 255, 255, ...hash.subarray(16, 19)])),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Returns a PNG chunk: length, name, content and checksum. */
function chunk(name: string, content: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(name), content]);
  const frame = Buffer.alloc(8 + named.length);
  frame.writeUInt32BE(content.length, 0);
  frame.set(named, 4);
  frame.writeUInt32BE(crc32(named), 4 + named.length);
  return frame;
}
