import sharp, { type Sharp } from "sharp";
import type { ImageKind } from "../../faces/core.ts";
import { mulberry32 } from "../../support/mulberry32.ts";

export interface Sample {
  readonly name: string;
  readonly kind: ImageKind;
  readonly bytes: Buffer;
}

const WIDTH = 40;
const HEIGHT = 30;

const random = mulberry32(1);

/** Returns incompressible bytes, which are the same in every run. */
function noise(length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
}

/** Half of the picture is noise, so that it compresses to about half its size. */
function picture(channels: 3 | 4 = 3): Sharp {
  const pixels = Buffer.alloc(WIDTH * HEIGHT * channels, 130);
  noise(pixels.length / 2).copy(pixels);
  return sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels } });
}

function pages(): Sharp {
  const pixels = noise(WIDTH * HEIGHT * 3 * 3);
  const raw = { width: WIDTH, height: HEIGHT * 3, channels: 3, pageHeight: HEIGHT } as const;
  return sharp(pixels, { raw });
}

const exif = { IFD0: { Copyright: "Ada", ImageDescription: "a noisy half" } };

const recipes: readonly (readonly [name: string, kind: ImageKind, make: () => Sharp])[] = [
  ["PNG", "png", () => picture().png()],
  ["PNG with transparency", "png", () => picture(4).png()],
  ["PNG with a palette", "png", () => picture().png({ palette: true, colours: 16 })],
  ["PNG of 16 bits", "png", () => picture().toColourspace("rgb16").png()],
  ["interlaced PNG", "png", () => picture().png({ progressive: true })],
  ["PNG with EXIF and ICC", "png", () => picture().withExif(exif).withIccProfile("p3").png()],
  ["JPEG", "jpeg", () => picture().jpeg()],
  ["progressive JPEG", "jpeg", () => picture().jpeg({ progressive: true })],
  ["grey JPEG", "jpeg", () => picture().greyscale().jpeg()],
  ["CMYK JPEG", "jpeg", () => picture().toColourspace("cmyk").jpeg()],
  ["JPEG with EXIF", "jpeg", () => picture().withExif(exif).jpeg()],
  ["JPEG with ICC", "jpeg", () => picture().withIccProfile("p3").jpeg()],
  ["JPEG with XMP", "jpeg", () => picture().withXmp(xmp).jpeg()],
  ["GIF", "gif", () => picture().gif()],
  ["animated GIF", "gif", () => pages().gif({ delay: [50, 50, 50], loop: 0 })],
  ["WebP", "webp", () => picture().webp()],
  ["lossless WebP", "webp", () => picture().webp({ lossless: true })],
  ["WebP with transparency", "webp", () => picture(4).webp()],
  ["animated WebP", "webp", () => pages().webp({ delay: [50, 50, 50], loop: 0 })],
  ["WebP with EXIF", "webp", () => picture().withExif(exif).webp()],
  ["AVIF", "avif", () => picture().avif()],
  ["AVIF with transparency", "avif", () => picture(4).avif()],
  ["AVIF with EXIF", "avif", () => picture().withExif(exif).avif()],
];

const xmp = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
 xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" GCamera:MotionPhoto="1"/></rdf:RDF>
</x:xmpmeta><?xpacket end="w"?>`;

export const samples: readonly Sample[] = await Promise.all(
  recipes.map(async ([name, kind, make]) => ({ name, kind, bytes: await make().toBuffer() })),
);

export function sampleOf(kind: ImageKind): Buffer {
  const found = samples.find((sample) => sample.kind === kind);
  if (found === undefined) throw new Error(`There is no sample of ${kind}.`);
  return found.bytes;
}

/** Creates a PNG of exactly `size` bytes, padded with a chunk that decoders skip. */
export function pngOf(size: number): Buffer {
  const png = sampleOf("png");
  return withChunk(png, "prVt", Buffer.alloc(size - png.length - 12));
}

export function withChunk(png: Buffer, type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  // The checksum stays 0, because the code under test does not read it.
  const chunk = Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]);
}

export function withSegment(jpeg: Buffer, marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), head, data, jpeg.subarray(2)]);
}

export function box(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(8 + data.length);
  return Buffer.concat([size, Buffer.from(type, "latin1"), data]);
}
