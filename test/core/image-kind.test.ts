import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sampleOf, samples } from "../client/images/samples.ts";
import { type ImageKind, imageKindOf, KIND_PREFIX_BYTES, mediaTypeOf } from "../faces/core.ts";

const kinds: readonly ImageKind[] = ["png", "jpeg", "webp", "gif", "avif"];

/** Returns the first box of a file in the ISO base media format. */
function ftyp(...brands: string[]): Uint8Array {
  const [major = "", ...compatible] = brands;
  const size = Buffer.alloc(4);
  size.writeUInt32BE(16 + 4 * compatible.length);
  const text = `ftyp${major}\0\0\0\0${compatible.join("")}`;
  return Buffer.concat([size, Buffer.from(text, "latin1"), Buffer.from("\0\0\0\x08mdat")]);
}

describe("imageKindOf", () => {
  test.each(samples)("knows a real $name, by its prefix alone", ({ bytes, kind }) => {
    expect(imageKindOf(bytes)).toBe(kind);
    expect(imageKindOf(bytes.subarray(0, KIND_PREFIX_BYTES))).toBe(kind);
  });

  test("reads a view into a larger buffer from where the view begins", () => {
    const larger = Buffer.concat([Buffer.from("GIF89a"), sampleOf("png")]);
    expect(imageKindOf(larger.subarray(6))).toBe("png");
  });

  test.each([
    ["GIF87a", "gif"],
    ["GIF89a", "gif"],
    ["RIFF\0\0\0\0WEBPVP8L", "webp"],
    ["\xff\xd8\xff\xdb", "jpeg"],
    ["\xff\xd8\xff\xe1", "jpeg"],
  ])("takes %j for %s", (head, kind) => {
    expect(imageKindOf(Buffer.from(head, "latin1"))).toBe(kind);
  });

  test.each([
    ["avif as the major brand", ["avif", "mif1", "miaf"]],
    ["avis, a sequence", ["avis", "msf1", "miaf"]],
    ["avif among the compatible brands", ["mif1", "miaf", "MA1B", "avif"]],
    [
      "avis as the last of many",
      ["mif1", ...("abcdefghijklmnopqrst".match(/..../g) ?? []), "avis"],
    ],
  ])("knows AVIF by its brands: %s", (_, brands) => {
    expect(imageKindOf(ftyp(...brands))).toBe("avif");
  });

  test.each([
    ["HEIC", ftyp("heic", "mif1")],
    ["MP4", ftyp("isom", "avc1", "mp41")],
    ["a brand that stands behind the box", Buffer.concat([ftyp("isom"), Buffer.from("avif")])],
    ["the version of the format", Buffer.from("\0\0\0\x14ftypisomavifmp41", "latin1")],
    ["brands that are out of step", ftyp("isom", "mp4a", "vifx")],
    ["a box too small for a brand", Buffer.from("\0\0\0\x08ftypavif")],
    ["a half signature of PNG", Buffer.from("\x89PNG\r\n", "latin1")],
    ["PNG that went through a text editor", Buffer.from("\x89PNG\n\x1a\n", "latin1")],
    ["a start of JPEG and no more", Buffer.from([0xff, 0xd8])],
    ["GIF of an unknown version", Buffer.from("GIF88a")],
    ["WAV", Buffer.from("RIFF\0\0\0\0WAVEfmt ")],
    ["SVG", Buffer.from("<svg xmlns=")],
    ["BMP", Buffer.from("BM\0\0\0\0")],
    ["nothing", new Uint8Array()],
  ])("does not know %s", (_, bytes) => {
    expect(imageKindOf(bytes)).toBeUndefined();
  });

  test("answers for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect([...kinds, undefined]).toContain(imageKindOf(bytes));
      }),
    );
  });
});

test.each([
  ["png", "image/png"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["gif", "image/gif"],
  ["avif", "image/avif"],
] as const)("the media type of %s is %s", (kind, type) => {
  expect(mediaTypeOf(kind)).toBe(type);
});
