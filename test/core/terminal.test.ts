import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { printable, printableStyled, printableText } from "../faces/core.ts";
import { FORBIDDEN, hostileText } from "../support/hostile-text.ts";

const texts = fc.oneof(hostileText, fc.string({ unit: "binary" }));

describe("a text from outside", () => {
  test("has no character left that commands a terminal, and no line break in one line", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(printable(text)).not.toMatch(FORBIDDEN);
        expect(printable(text)).not.toMatch(/[\n\t]/);
        expect(printableText(text)).not.toMatch(FORBIDDEN);
      }),
    );
  });

  test("is the same in JSON once that is read", () => {
    fc.assert(
      fc.property(fc.jsonValue(), texts, (value, text) => {
        const json = printableText(JSON.stringify({ value, [text]: text }));
        expect(json).not.toMatch(FORBIDDEN);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ value, [text]: text })));
      }),
    );
  });

  test("keeps letters, emoji and the joiners that they are made with", () => {
    const text = "é 漢 עברית 👩‍🚀 می‌خواهم ' \" \\";
    expect([printable(text), printableText(text), printableStyled(text)]).toEqual([
      ...[text, text, text],
    ]);
  });

  test("shows a character beyond U+FFFF as JSON does", () => {
    expect(printable("a\u{e0041}b")).toBe("a\\udb40\\udc41b");
  });

  test("shows lone surrogates apart, which a terminal would show as one character", () => {
    expect(printable("a\ud800 \udfff\u{1f600}")).toBe("a\\ud800 \\udfff\u{1f600}");
  });
});

test("colours of our own stay, and no other sequence does", () => {
  const text = "\u001b[32mok\u001b[39m \u001b[2J\u001b]0;x\u0007";
  expect(printableStyled(text)).toBe("\u001b[32mok\u001b[39m \\u001b[2J\\u001b]0;x\\u0007");
});
