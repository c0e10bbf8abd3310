import { describe, expect, test } from "vitest";
import { checkImage } from "../../faces/client.ts";
import type { ImageKind } from "../../faces/core.ts";
import { refusal } from "./refusal.ts";
import { box, noise, sampleOf, withChunk, withSegment } from "./samples.ts";

const kinds: readonly ImageKind[] = ["png", "jpeg", "webp", "gif", "avif"];

const latin1 = (text: string) => Buffer.from(text, "latin1");

/** A ZIP archive with one file "a" that is stored, of the length that is given. */
function zip(length = 1): Buffer {
  const name = "\x01\0\0\0a";
  const size = Buffer.alloc(4);
  size.writeUInt32LE(length);
  const sizes = size.toString("latin1").repeat(2);
  const local = `PK\x03\x04\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0${sizes}${name}`;
  const directory = `PK\x01\x02\x14\0\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0${sizes}\x01\0${"\0".repeat(16)}a`;
  const end = `PK\x05\x06\0\0\0\0\x01\0\x01\0${"\0".repeat(10)}`;
  return Buffer.concat([latin1(local), noise(length), latin1(directory + end)]);
}

const others: readonly (readonly [name: string, bytes: Buffer])[] = [
  ["a ZIP archive", zip()],
  ["a PDF", latin1("%PDF-1.4\n1 0 obj <</Type /Catalog>> endobj\n%%EOF")],
  ["HTML", latin1("<!DOCTYPE html><body>hi</body>")],
  ["HTML", latin1("<HTML><body>hi</body></HTML>")],
  ["HTML", latin1('<img src="x" onerror="alert(1)">')],
  ["a script", latin1("<script>alert(1)</script>")],
  ["a script", latin1("<ScRiPt src=//x.example>")],
  ["PHP", latin1("<?php system($_GET[0]); ?>")],
  ["PHP", latin1("<?=$_GET[0]($_POST[1]);?>")],
  ["PHP", latin1("<?PHP\n__HALT_COMPILER();")],
  ["PHP", latin1("<?=`$_GET[0]`?>")],
  ["PHP", latin1("<?= system($_GET[0])")],
  ["a PDF", latin1("%PDF-\n1 0 obj")],
  ["HTML", latin1("<meta http-equiv=refresh content=0;url=//x.example>")],
  ["HTML", latin1("<object data=//x.example>")],
  ["HTML", latin1("<style>@import'//x.example'</style>")],
  ["HTML", latin1("<a href=javascript:alert(1)>")],
  ["HTML", latin1("<img src=x title='>' onerror=alert(1)>")],
  ["a ZIP archive", zipWithOddFields()],
  ["JSP", latin1('<%@ page import="java.util.*" %>')],
  ["a RAR archive", latin1("Rar!\x1a\x07\x01\0")],
  ["a 7z archive", latin1("7z\xbc\xaf\x27\x1c\0\x04")],
  ["a shell script", latin1("\n#!/bin/sh\nrm -rf /")],
];

/** One file, stored; readers look neither at the version that it needs nor at the number of the disk. */
function zipWithOddFields(): Buffer {
  const name = latin1("a.txt");
  const local = Buffer.alloc(30);
  local.write("PK\x03\x04", "latin1");
  local.writeUInt16LE(name.length, 26);
  const file = Buffer.concat([local, name]);
  const entry = Buffer.alloc(46);
  entry.write("PK\x01\x02", "latin1");
  entry.writeUInt16LE(name.length, 28);
  const directory = Buffer.concat([entry, name]);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(file.length, 16);
  return Buffer.concat([file, directory, end]);
}

async function expectRefused(bytes: Buffer, holds: string | RegExp): Promise<void> {
  const error = await refusal(() => checkImage(bytes));
  expect(error.platformCode).toBe("VALIDATION");
  expect(error.message).toMatch(holds);
}

describe.each(kinds)("%s", (kind) => {
  test.each(others)("with %s behind its end is refused", async (name, other) => {
    await expectRefused(Buffer.concat([sampleOf(kind), other]), `holds ${name}`);
  });

  test.each([
    ["text", latin1("alert(1)")],
    ["a program", latin1("\x7fELF\x02\x01")],
    ["noise", noise(3_000)],
    ["a size that reaches to the end", latin1("\0\0\0\0text")],
    ["text behind padding", latin1("\0\0\0\0alert(1)")],
  ])("with %s behind its end is refused", async (_, other) => {
    await expectRefused(Buffer.concat([sampleOf(kind), other]), /not part of it|not a clean/);
  });

  test("with padding behind its end passes", () => {
    expect(checkImage(Buffer.concat([sampleOf(kind), Buffer.alloc(4_096)]))).toBe(kind);
    expect(checkImage(Buffer.concat([sampleOf(kind), Buffer.from("\r\n")]))).toBe(kind);
  });
});

describe("something else inside", () => {
  test.each(others)("%s in the text of a PNG is refused", async (name, other) => {
    const text = Buffer.concat([latin1("Comment\0"), other]);
    await expectRefused(withChunk(sampleOf("png"), "tEXt", text), `holds ${name}`);
    await expectRefused(withChunk(sampleOf("png"), "prVt", text), `holds ${name}`);
  });

  test.each(others)("%s in the comment of a JPEG is refused", async (name, other) => {
    await expectRefused(withSegment(sampleOf("jpeg"), 0xfe, other), `holds ${name}`);
    await expectRefused(withSegment(sampleOf("jpeg"), 0xef, other), `holds ${name}`);
  });

  test.each(others)("%s in the comment of a GIF is refused", async (name, other) => {
    await expectRefused(withComment(sampleOf("gif"), other), `holds ${name}`);
  });

  test.each(others)("%s in a chunk of a WebP is refused", async (name, other) => {
    await expectRefused(withRiffChunk(sampleOf("webp"), "XMP ", other), `holds ${name}`);
  });

  test.each(others)("%s in a box of an AVIF is refused", async (name, other) => {
    await expectRefused(Buffer.concat([sampleOf("avif"), box("free", other)]), `holds ${name}`);
  });

  test("a tar archive that begins as an image is refused", async () => {
    const jpeg = withSegment(sampleOf("jpeg"), 0xfe, latin1(`${"\0".repeat(251)}ustar\x0000`));
    await expectRefused(jpeg, "holds a tar archive");
  });

  test("a disk image that begins as one is refused", async () => {
    const jpeg = withSegment(sampleOf("jpeg"), 0xfe, latin1(`${"\0".repeat(32_763)}CD001\x01`));
    await expectRefused(jpeg, "holds a disk image");
  });
});

describe("JavaScript", () => {
  const gif = sampleOf("gif");
  const begin = ["/*\0\0", "//\n\n", "=1;\n", "=/*\x20", "=\n\n1", "=0//", "=\n\n\n/*", "`  `"];
  test.each(begin)("GIF89a%j is refused", async (text) => {
    const bytes = Buffer.concat([latin1(`GIF89a${text}`), gif.subarray(6 + text.length)]);
    await expectRefused(withComment(bytes, latin1("*/=1;alert(1)/*")), "holds JavaScript");
  });

  test("a JPEG whose first segment begins a comment is refused", async () => {
    const app0 = withSegment(sampleOf("jpeg"), 0xe0, latin1("JFIF\0".padEnd(0x2f2a - 2, "\0")));
    expect(app0.subarray(4, 6).toString()).toBe("/*");
    await expectRefused(app0, "holds JavaScript");
    const app1 = withSegment(sampleOf("jpeg"), 0xe1, latin1("Exif\0".padEnd(0x2f2a - 2, "\0")));
    await expectRefused(withSegmentBehind(app1, latin1("*/=alert(1)/*")), "holds JavaScript");
  });

  test("a WebP whose size begins a comment is refused", async () => {
    const webp = sampleOf("webp");
    const comment = latin1("*/=alert(1)/*");
    const filler = 0x2a2f - (webp.length - 8) - 8 - 8 - comment.length - 1;
    const first = withRiffChunk(webp, "XMP ", comment);
    const bytes = withRiffChunk(first, "PAD ", Buffer.alloc(filler));
    // Without the last byte, which makes the length even.
    bytes.writeUInt32LE(0x2a2f, 4);
    expect(bytes.subarray(4, 6).toString()).toBe("/*");
    await expectRefused(bytes, "holds JavaScript");
  });
});

test.each([2_400, 2_348, 2_365, 800, 8_000])(
  "a GIF of %i pixels passes, however they read",
  (size) => {
    const gif = Buffer.from(sampleOf("gif"));
    gif.writeUInt16LE(size, 6);
    gif.writeUInt16LE(size, 8);
    expect(checkImage(gif)).toBe("gif");
  },
);

test("a GIF of a size that reads as an operator, and then as no text, passes", () => {
  const gif = Buffer.from(sampleOf("gif"));
  gif.set([0x3d, 0x0a, 0x01, 0x20], 6);
  expect(checkImage(gif)).toBe("gif");
});

test("a GIF with a colour table of its image passes", () => {
  const table = "\xff\xff\xff\xfe\xfe\xfe";
  const image = `,\0\0\0\0\x01\0\x01\0\x80${table}\x02\x02L\x01\0`;
  expect(checkImage(latin1(`GIF89a\x01\0\x01\0\0\0\0${image};`))).toBe("gif");
});

test("a WebP with chunks behind one of odd length passes", () => {
  const odd = withRiffChunk(sampleOf("webp"), "EXIF", noise(9));
  expect(checkImage(withRiffChunk(odd, "XMP ", noise(9)))).toBe("webp");
});

describe("a container whose length disagrees is refused", () => {
  test.each([-2, 2, 4_096])("WebP, by %i bytes", async (by) => {
    const webp = Buffer.from(sampleOf("webp"));
    webp.writeUInt32LE(webp.length - 8 + by, 4);
    await expectRefused(webp, /past its end|not part of it|cut off/);
  });

  test("WebP, by bytes behind its last chunk", async () => {
    const webp = Buffer.concat([sampleOf("webp"), latin1("abcd")]);
    webp.writeUInt32LE(webp.length - 8, 4);
    await expectRefused(webp, "4 bytes behind its end are not part of it");
  });

  test("WebP, by a chunk", async () => {
    const webp = Buffer.from(sampleOf("webp"));
    webp.writeUInt32LE(webp.readUInt32LE(16) + 100, 16);
    await expectRefused(webp, "past its end");
  });

  test("AVIF, by a box", async () => {
    await expectRefused(Buffer.concat([sampleOf("avif"), latin1("\0\0\x10\0mdat")]), "cut off");
  });
});

describe("a hull without pixels is refused", () => {
  const png = sampleOf("png");
  test.each<[string, Buffer]>([
    ["PNG", Buffer.concat([png.subarray(0, 33), png.subarray(-12)])],
    ["PNG without a header", Buffer.concat([png.subarray(0, 8), png.subarray(-12)])],
    ["JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xd9])],
    ["GIF", latin1("GIF89a\x01\0\x01\0\0\0\0;")],
    ["WebP", latin1("RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0")],
    ["AVIF", Buffer.concat([box("ftyp", latin1("avif\0\0\0\0avif")), box("mdat")])],
  ])("%s", async (_, bytes) => {
    await expectRefused(bytes, /no pixels|does not begin with its header/);
  });

  test("PNG with data in its end", async () => {
    const end = Buffer.concat([Buffer.from([0, 0, 0, 4]), latin1("IENDdata"), Buffer.alloc(4)]);
    await expectRefused(Buffer.concat([png.subarray(0, -12), end]), "holds data");
  });
});

/** A GIF with a comment before its trailer. */
function withComment(gif: Buffer, text: Buffer): Buffer {
  const comment = Buffer.concat([Buffer.from([0x21, 0xfe, text.length]), text, Buffer.from([0])]);
  return Buffer.concat([gif.subarray(0, -1), comment, gif.subarray(-1)]);
}

function withRiffChunk(webp: Buffer, name: string, data: Buffer): Buffer {
  const head = Buffer.concat([latin1(name), Buffer.alloc(4)]);
  head.writeUInt32LE(data.length, 4);
  const bytes = Buffer.concat([webp, head, data, Buffer.alloc(data.length % 2)]);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  return bytes;
}

/** A JPEG with a comment behind its first segment. */
function withSegmentBehind(jpeg: Buffer, text: Buffer): Buffer {
  const at = 4 + jpeg.readUInt16BE(4);
  const comment = withSegment(jpeg.subarray(0, 2), 0xfe, text).subarray(2);
  return Buffer.concat([jpeg.subarray(0, at), comment, jpeg.subarray(at)]);
}
