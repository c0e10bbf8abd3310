import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textOf } from "../faces/events.ts";

function nested(levels: number, open: string, close: string): unknown {
  return JSON.parse(`${open.repeat(levels - 1)}{}${close.repeat(levels - 1)}`);
}

describe("the text of an event", () => {
  test("is its JSON, for any content", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (raw) => {
        expect(textOf(raw)).toBe(JSON.stringify(raw));
      }),
    );
  });

  test.each([
    ["lists", "[", "]"],
    ["objects", '{"a":', "}"],
    ["lists in objects", '{"a":[', "]}"],
    ["lists with more before and behind", '[{},5,"[[",', ",null,[]]"],
    ["objects with more before and behind", '{"a":{},"b":[1],"c":', ',"d":"{{"}'],
    ["objects named __proto__", '{"__proto__":', "}"],
  ])("is there for a hundred levels and not for more: %s", (_name, open, close) => {
    const each = open === '{"a":[' ? 2 : 1;
    const most = nested(Math.floor(99 / each) + 1, open, close);
    expect(textOf(most)).toBe(JSON.stringify(most));
    expect(textOf(nested(Math.floor(99 / each) + 2, open, close))).toBeUndefined();
    expect(textOf(nested(200_000, open, close))).toBeUndefined();
  });

  test("is there for any number of neighbours", () => {
    const wide = Array.from({ length: 10_000 }, () => nested(90, "[", "]"));
    expect(textOf(wide)).toBe(JSON.stringify(wide));
  });
});
