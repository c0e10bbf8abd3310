import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "../faces/core.ts";

describe("an integer beyond 2^53", () => {
  test.each<[string, unknown]>([
    ['{"id":9007199254740993}', { id: "9007199254740993" }],
    ['{"id":-12345678901234567890}', { id: "-12345678901234567890" }],
    ['{"postId" :\n 9007199254740993}', { postId: "9007199254740993" }],
    [
      '{"post_id":9007199254740993,"userID":9007199254740995}',
      { post_id: "9007199254740993", userID: "9007199254740995" },
    ],
    ['[{"a":[{"id":9007199254740993}]}]', [{ a: [{ id: "9007199254740993" }] }]],
  ])("is a text where it is an id: %s", (text, expected) => {
    expect(parseJson(text)).toEqual(expected);
  });

  test.each([
    '{"id":9007199254740991}',
    '{"id":1000000000000000}',
    '{"paid":9007199254740993}',
    '{"count":9007199254740993,"note":"id\\":9007199254740993"}',
    '{"id":9007199254740993.5}',
    '{"id":9007199254740993e2}',
  ])("stays what JSON.parse makes of it elsewhere: %s", (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test("keeps its digits, however many there are", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (id) => {
        const { id: read }: { id?: unknown } = Object(parseJson(`{"id":${id}}`));
        expect(String(read)).toBe(String(id));
      }),
    );
  });
});

test("any other JSON is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("a depth that no reviver takes is still read", () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  expect(parseJson(`{"id":9007199254740993,"deep":${deep}}`)).toHaveProperty("deep");
});

test("a text that is not JSON throws a SyntaxError", () => {
  expect(() => parseJson('{"id":9007199254740993')).toThrow(SyntaxError);
});
