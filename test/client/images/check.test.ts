import { deflateRawSync, gzipSync } from "node:zlib";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { checkImage, MAX_IMAGE_BYTES } from "../../faces/client.ts";
import { refusal } from "./refusal.ts";
import { box, noise, pngOf, sampleOf, samples, video } from "./samples.ts";

test.each(samples)("$name passes, as what it is", ({ bytes, kind }) => {
  expect(checkImage(bytes)).toBe(kind);
});

test("a view into a larger buffer is checked from where it begins to where it ends", () => {
  const png = sampleOf("png");
  const larger = Buffer.concat([Buffer.from("GIF89a/*"), png, Buffer.from("<?php ")]);
  expect(checkImage(larger.subarray(8, 8 + png.length))).toBe("png");
});

describe("the size", () => {
  test("5 MB pass", async () => {
    const image = pngOf(MAX_IMAGE_BYTES);
    expect(image.length).toBe(5 * 1024 * 1024);
    expect(checkImage(image)).toBe("png");
    expect(await sharp(image).metadata()).toMatchObject({ format: "png" });
  });

  test("5 MB and one byte are TOO_LARGE", async () => {
    const error = await refusal(() => checkImage(pngOf(MAX_IMAGE_BYTES + 1)));
    expect(error).toMatchObject({ code: "TOO_LARGE", platformCode: "TOO_LARGE" });
    expect(error.message).toContain("larger than 5 MB (5242880 bytes)");
  });

  test("nothing at all is VALIDATION", async () => {
    const error = await refusal(() => checkImage(new Uint8Array(), '"./a.png"'));
    expect(error).toMatchObject({ platformCode: "VALIDATION", message: '"./a.png" is empty.' });
  });
});

const tiff = await sharp(sampleOf("png")).tiff().toBuffer();

describe("what is none of the five kinds is VALIDATION, and is called by its name", () => {
  test.each<[string, Uint8Array | string]>([
    ["text", "Dear platform, this is a text."],
    ["text", "Grüße 👋".repeat(200)],
    ["text", '{"error":{"code":"NOT_FOUND"}}'],
    ["a PDF", "%PDF-1.7\n%âãÏÓ"],
    ["a ZIP archive or an Office document", Buffer.from("PK\x03\x04\x14\0")],
    ["a HEIC photo", box("ftyp", Buffer.from("heic\0\0\0\0mif1heic"))],
    ["a HEIC photo", box("ftyp", Buffer.from("mif1\0\0\0\0mif1heic"))],
    ["an SVG drawing", '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ["an SVG drawing", '\ufeff<?xml version="1.0"?>\n<!-- made by hand -->\n<svg/>'],
    ["an HTML page", "<!DOCTYPE html><title>404</title>"],
    ["a BMP image", Buffer.from("BM\x36\x10\0\0\0\0\0\0\x36\0\0\0")],
    ["a TIFF or a camera's raw image", tiff],
    ["an icon (ICO)", Buffer.from("\0\0\x01\0\x01\0")],
    ["an MP4 video", video()],
    ["a QuickTime video", box("ftyp", Buffer.from("qt  \0\0\0\0qt  "))],
    ["a WebM or Matroska video", Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 1])],
    ["a JPEG XL image", Buffer.from([0xff, 0x0a, 0x12])],
    ["a WAV sound", Buffer.from("RIFF\x24\0\0\0WAVEfmt ")],
    ["a Photoshop document", Buffer.from("8BPS\0\x01")],
    ["gzip", gzipSync("text")],
    ["a program", Buffer.from("\x7fELF\x02")],
    ["base64 text", sampleOf("png").toString("base64")],
    ["base64 text", sampleOf("jpeg").toString("base64")],
    ["the text of a data: URL", `data:image/png;base64,${sampleOf("png").toString("base64")}`],
    ["a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:0"],
    ["something else", deflateRawSync(noise(200))],
  ])("%s", async (name, content) => {
    const bytes = Buffer.from(content as Uint8Array);
    const error = await refusal(() => checkImage(bytes, '"./a.png"'));
    expect(error.platformCode).toBe("VALIDATION");
    const list = "images are PNG, JPEG, WebP, GIF or AVIF.";
    expect(error.message).toContain(`"./a.png" looks like ${name}; ${list}`);
  });

  test("and says what to do", async () => {
    const heic = box("ftyp", Buffer.from("heic\0\0\0\0mif1heic"));
    expect((await refusal(() => checkImage(heic))).message).toMatch(/Save it as JPEG or AVIF\.$/);
  });
});

describe("an image that is cut off", () => {
  test.each(samples)("is VALIDATION wherever $name ends", async ({ bytes, kind }) => {
    for (let length = 1; length < bytes.length; length += 1) {
      // The last byte of a WebP may be there to make its length even, and of no other use.
      if (kind === "webp" && length === bytes.length - 1 && bytes.at(-1) === 0) continue;
      const error = await refusal(() => checkImage(bytes.subarray(0, length)));
      expect(error.platformCode, `${length} bytes`).toBe("VALIDATION");
    }
  });

  test.each([
    ["png", "its end (IEND)"],
    ["jpeg", "its end (EOI)"],
    ["gif", "its end (trailer)"],
    ["webp", "the end that its header gives"],
    ["avif", "the end that its last box gives"],
  ] as const)("says of %s what is missing", async (kind, missing) => {
    const half = sampleOf(kind).subarray(0, -10);
    const { message } = await refusal(() => checkImage(half));
    expect(message).toContain(`it is cut off before ${missing}`);
  });
});
