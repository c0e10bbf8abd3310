import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { checkImage, MAX_IMAGE_BYTES } from "../../faces/client.ts";
import { refusal } from "./refusal.ts";
import { box, pngOf, sampleOf, samples } from "./samples.ts";

test.each(samples)("$name is known by its first bytes", ({ bytes, kind }) => {
  expect(checkImage(bytes)).toBe(kind);
  expect(checkImage(bytes.subarray(0, 128))).toBe(kind);
});

test("a view into a larger buffer is checked from its own beginning", () => {
  const png = sampleOf("png");
  const larger = Buffer.concat([Buffer.from("GIF89a/*"), png, Buffer.from("<?php ")]);
  expect(checkImage(larger.subarray(8, 8 + png.length))).toBe("png");
});

test("records of a camera behind a picture are left to the platform", () => {
  const trailer = Buffer.from("SEFH and a video", "latin1");
  expect(checkImage(Buffer.concat([sampleOf("jpeg"), trailer]))).toBe("jpeg");
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

  test("no bytes at all are VALIDATION", async () => {
    const error = await refusal(() => checkImage(new Uint8Array(), '"./a.png"'));
    expect(error).toMatchObject({ platformCode: "VALIDATION", message: '"./a.png" is empty.' });
  });
});

describe("bytes of another kind are VALIDATION:", () => {
  test.each<[string, Uint8Array | string]>([
    ["text", "Dear platform, this is a text."],
    ["a PDF", "%PDF-1.7\n%"],
    ["a ZIP archive", Buffer.from("PK\x03\x04\x14\0")],
    ["a HEIC photo", box("ftyp", Buffer.from("heic\0\0\0\0mif1heic"))],
    ["an SVG drawing", '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ["an HTML page", "<!DOCTYPE html><title>404</title>"],
    ["base64 text", sampleOf("png").toString("base64")],
  ])("%s", async (_, content) => {
    const error = await refusal(() => checkImage(Buffer.from(content), '"./a.png"'));
    expect(error.platformCode).toBe("VALIDATION");
    expect(error.message).toContain('"./a.png"');
  });
});
