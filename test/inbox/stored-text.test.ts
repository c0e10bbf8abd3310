import fc from "fast-check";
import { expect, test } from "vitest";
import { fromStored, shortenKey, toStored } from "../faces/inbox.ts";

/** Texts with many characters that need an escape, or look like one. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom("\0", "\u001a", "\u001ad800", "\ud800", "\udc00", "\ud83d\ude00", "0000"),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
  )
  .map((parts) => parts.join(""));

test("a text comes back from its stored form as it was", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(fromStored(toStored(text))).toBe(text);
    }),
  );
});

test("a stored form has no NUL, and UTF-8 can represent it", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = toStored(text);
      expect(stored).not.toContain("\0");
      expect(Buffer.from(stored).toString()).toBe(stored);
    }),
  );
});

test("different texts have different forms", () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      expect(toStored(one) === toStored(other)).toBe(one === other);
    }),
  );
});

test("an ordinary text is its own form", () => {
  for (const text of ["", "dm:c_1", "évé\u0301", "😀", "a\tb\n\u001b[0m", '{"a":"\\u0000"}']) {
    expect(toStored(text)).toBe(text);
    expect(fromStored(text)).toBe(text);
  }
});

test("a key of at most 512 stored bytes is kept, and a longer one keeps apart from others", () => {
  for (const key of ["x".repeat(512), "漢".repeat(170), "\0".repeat(102)]) {
    expect(shortenKey(key)).toBe(key);
    const longer = [`${key}xyz`, `${key}xyw`].map(shortenKey);
    expect(new Set(longer).size).toBe(2);
    for (const short of longer) {
      expect(Buffer.byteLength(toStored(short))).toBeLessThanOrEqual(512);
      expect(shortenKey(short)).toBe(short);
    }
  }
});
