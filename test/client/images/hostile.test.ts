import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkImage } from "../../faces/client.ts";
import type { ImageKind } from "../../faces/core.ts";
import { refusalOf } from "./refusal.ts";
import { box, samples } from "./samples.ts";

const kinds: readonly ImageKind[] = ["png", "jpeg", "webp", "gif", "avif"];

const heads: readonly Buffer[] = [
  "\x89PNG\r\n\x1a\n",
  "\xff\xd8\xff",
  "GIF89a",
  "RIFF\xff\0\0\0WEBP",
  "\0\0\0\x14ftypavif\0\0\0\0mif1",
].map((head) => Buffer.from(head, "latin1"));

/** Names, lengths and markers that the walkers stop at. */
const pieces = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc
    .constantFrom(
      ..."IHDR IDAT IEND VP8X VP8L ftyp meta moov mdat SEFH SEFT PK\x03\x04 \xff\xda \xff\xd9 \xff\xd8\xff".split(
        " ",
      ),
      ..."\0\0\0\0 \0\0\0\x01 \0\0\0\x0d \xff\xff\xff\xff \xff\xc0\0\x02 \x21\xfe \x2c ; /* */= <svg".split(
        " ",
      ),
    )
    .map((text) => Buffer.from(text, "latin1")),
);

/** Either a kind or the documented refusal; anything else that is thrown fails the test. */
function expectVerdict(bytes: Uint8Array): void {
  try {
    expect(kinds).toContain(checkImage(bytes));
  } catch (thrown) {
    const error = refusalOf(thrown);
    expect(error.platformCode).toBe("VALIDATION");
    expect(error.message.length).toBeLessThan(300);
  }
}

describe("any bytes get a verdict", () => {
  test("random ones", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 500 }), expectVerdict), { numRuns: 2_000 });
  });

  test("what begins as an image and goes on at random", () => {
    const bytes = fc.tuple(fc.constantFrom(...heads), fc.array(pieces, { maxLength: 60 }));
    fc.assert(
      fc.property(bytes, ([head, rest]) => expectVerdict(Buffer.concat([head, ...rest]))),
      { numRuns: 5_000 },
    );
  });

  test.each(samples)("$name with flipped bits, cut off and put together anew", ({ bytes }) => {
    const place = fc.nat({ max: bytes.length - 1 });
    const flips = fc.array(fc.tuple(place, fc.integer({ min: 1, max: 255 })), { maxLength: 5 });
    fc.assert(
      fc.property(flips, place, place, (changes, cut, again) => {
        const changed = Buffer.from(bytes);
        for (const [at, by] of changes) changed[at] = (changed[at] ?? 0) ^ by;
        expectVerdict(changed);
        expectVerdict(changed.subarray(0, cut));
        expectVerdict(Buffer.concat([changed.subarray(0, cut), changed.subarray(again)]));
      }),
    );
  });
});

/** A walk that begins anew at every piece takes minutes for these; a busy machine does not. */
const TIME_LIMIT_MS = 30_000;

describe("five megabytes made to be slow are walked once", () => {
  const small = Buffer.from("\xff\xd8\xff\xc0\0\x02\xff\xda\0\x02\xff\xd9", "latin1");
  const directory = Buffer.alloc(12 + 12 * 200_000);
  directory.write("SEFH");
  directory.writeUInt32LE(200_000, 8);
  const tail = Buffer.from("\0\0\0\0SEFT", "latin1");
  tail.writeUInt32LE(directory.length);
  const times = (text: string, length = 5_200_000) => Buffer.alloc(length, text, "latin1");

  test.each<[string, Buffer]>([
    [
      "many pictures and a large directory",
      Buffer.concat([times(small.toString("latin1"), 2_640_000), directory, tail]),
    ],
    [
      "many pictures and many videos",
      Buffer.concat([small, times(box("ftyp").toString("latin1"))]),
    ],
    ["only padding", Buffer.concat([small, times("\0")])],
    ["only fill bytes", times("\xff\xd8\xff")],
    ["only restart markers", Buffer.concat([small.subarray(0, 10), times("\xff\xd0")])],
    ["tags that never end", Buffer.concat([small, times(`<svg ${"on".repeat(50)}`)])],
    ["tags with attributes that never come", Buffer.concat([small, times("<svg onaaa         ")])],
    [
      "comments that end often",
      Buffer.concat([Buffer.from("\xff\xd8\xff\xe1/*", "latin1"), times("*/         ")]),
    ],
    ["empty chunks", Buffer.concat([heads[0] ?? small, times("\0\0\0\0tEXt\0\0\0\0")])],
    ["empty blocks", Buffer.concat([heads[2] ?? small, times("\0")])],
  ])("%s", { timeout: TIME_LIMIT_MS }, (_, bytes) => {
    expectVerdict(bytes);
  });
});
