import sharp from "sharp";
import { expect, test } from "vitest";
import { box, sampleOf, samples, withSegment } from "../../client/images/samples.ts";
import { inspect, MAX_SIDE } from "../../faces/platform.ts";
import { mulberry32 } from "../../support/mulberry32.ts";

function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

function offsetOf(bytes: Buffer, text: string): number {
  const at = bytes.indexOf(text, 0, "latin1");
  if (at < 0) throw new Error(`There is no ${text}.`);
  return at;
}

const jpeg = sampleOf("jpeg");
const png = sampleOf("png");
const webp = sampleOf("webp");
const avif = sampleOf("avif");
const sample = (name: string) => samples.find((one) => one.name === name)?.bytes ?? Buffer.alloc(0);

const frameOf = (bytes: Buffer) =>
  Math.max(bytes.indexOf("ffc0", "hex"), bytes.indexOf("ffc2", "hex"));

test.each(samples)("a $name has the size that a decoder gives it", async ({ kind, bytes }) => {
  const { width, height } = await sharp(bytes).metadata();
  expect(inspect(bytes)).toEqual({ kind, width, height });
});

test.each(samples)("a $name truncated within its headers is rejected", ({ bytes }) => {
  for (let length = 0; length < 10; length += 1) {
    expect(inspect(bytes.subarray(0, length)), `${length} bytes`).toBeTypeOf("string");
  }
});

const preview = await sharp(jpeg).resize(8, 6).jpeg().toBuffer();
const exif = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), preview]);

const comment = Buffer.alloc(65_000, "x");

test.each<[string, Buffer]>([
  [
    "ten long comments",
    Array(10)
      .fill(comment)
      .reduce((bytes, text) => withSegment(bytes, 0xfe, text), jpeg),
  ],
  ["a preview in its metadata", withSegment(jpeg, 0xe1, exif)],
  [
    "a preview in its metadata, behind bytes that fill up",
    Buffer.concat([
      jpeg.subarray(0, 2),
      Buffer.from([0xff, 0xff]),
      withSegment(jpeg, 0xe1, exif).subarray(2),
    ]),
  ],
  ["a preview behind its end", Buffer.concat([jpeg, preview])],
])("a JPEG with %s has its own size", (_, bytes) => {
  expect(inspect(bytes)).toEqual({ kind: "jpeg", width: 40, height: 30 });
});

test("an AVIF has the size of its primary item, not of its largest item", () => {
  const size = Buffer.alloc(12);
  size.writeUInt32BE(4000, 4);
  size.writeUInt32BE(3000, 8);
  const other = box("ispe", size);
  const end = offsetOf(avif, "ipco") - 4 + avif.readUInt32BE(offsetOf(avif, "ipco") - 4);
  const bytes = Buffer.concat([avif.subarray(0, end), other, avif.subarray(end)]);
  for (const type of ["ipco", "iprp", "meta"]) {
    const at = offsetOf(bytes, type) - 4;
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + other.length, at);
  }
  expect(inspect(bytes)).toEqual({ kind: "avif", width: 40, height: 30 });
});

test("an animated AVIF has the size of its still image", () => {
  const bytes = changed(avif, (copy) => copy.write("avis", 8));
  expect(inspect(bytes)).toEqual({ kind: "avif", width: 40, height: 30 });
});

test.each<[string, Buffer]>([
  ["a PNG without a width", changed(png, (copy) => copy.writeUInt32BE(0, 16))],
  ["a PNG without a height", changed(png, (copy) => copy.writeUInt32BE(0, 20))],
  ["a GIF without a width", changed(sampleOf("gif"), (copy) => copy.writeUInt16LE(0, 6))],
  ["a GIF without a height", changed(sampleOf("gif"), (copy) => copy.writeUInt16LE(0, 8))],
  ["a JPEG without a height", changed(jpeg, (copy) => copy.writeUInt16BE(0, frameOf(jpeg) + 5))],
  ["a JPEG without a width", changed(jpeg, (copy) => copy.writeUInt16BE(0, frameOf(jpeg) + 7))],
  ["a WebP without a width", changed(webp, (copy) => copy.writeUInt16LE(0, 26))],
  ["a WebP without a start code", changed(webp, (copy) => copy.writeUInt8(0, 23))],
  [
    "an AVIF without a width",
    changed(avif, (copy) => copy.writeUInt32BE(0, offsetOf(avif, "ispe") + 8)),
  ],
  ["an AVIF without a size", changed(avif, (copy) => copy.write("free", offsetOf(avif, "ispe")))],
  [
    "an AVIF without a primary item",
    changed(avif, (copy) => copy.write("free", offsetOf(avif, "pitm"))),
  ],
  [
    "an AVIF without properties",
    changed(avif, (copy) => copy.write("free", offsetOf(avif, "ipma"))),
  ],
  [
    "a WebP whose canvas is larger than its picture",
    changed(sample("WebP with EXIF"), (copy) => copy.writeUIntLE(9_999, 24, 3)),
  ],
])("%s is not an image", (_, bytes) => {
  expect(inspect(bytes)).toMatch(/has no size$/);
});

test("a side of 65,535 pixels is accepted, and one more pixel is rejected", () => {
  const wide = (width: number) => inspect(changed(png, (copy) => copy.writeUInt32BE(width, 16)));
  expect(wide(MAX_SIDE)).toEqual({ kind: "png", width: 65_535, height: 30 });
  expect(wide(MAX_SIDE + 1)).toContain("65536 × 30 pixels");
  expect(wide(2 ** 32 - 1)).toBeTypeOf("string");
});

test("a damaged image never breaks the check, and never has an impossible size", () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = mulberry32(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let round = 0; round < 4_000; round += 1) {
    const { bytes = png } = samples[below(samples.length)] ?? {};
    const damaged = changed(bytes, (copy) => {
      for (let times = 1 + below(4); times > 0; times -= 1) {
        // Most of the headers are at the beginning.
        copy[below(random() < 0.7 ? Math.min(400, copy.length) : copy.length)] = below(256);
      }
    });
    const found = inspect(damaged);
    if (typeof found === "string") continue;
    for (const side of [found.width, found.height]) {
      expect(side, `seed ${seed}, round ${round}`).toSatisfy(
        (pixels: number) => Number.isInteger(pixels) && pixels > 0 && pixels <= MAX_SIDE,
      );
    }
  }
});
