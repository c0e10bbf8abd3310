import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson, textsIn } from "../faces/core.ts";

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
    ['{"\\u0069d":9007199254740993}', { id: "9007199254740993" }],
    ['{"post\\u0049\\u0064"\t:\r\n9007199254740993}', { postId: "9007199254740993" }],
    ['{"\\"\\\\\\u005fid":9007199254740993}', { '"\\_id': "9007199254740993" }],
    ['{"cursor":9007199254740993}', { cursor: "9007199254740993" }],
    ['{"nextCursor":9007199254740993}', { nextCursor: "9007199254740993" }],
    ['{"next_cursor":9007199254740993}', { next_cursor: "9007199254740993" }],
    ['{"username":9007199254740993}', { username: "9007199254740993" }],
    ['{"id":1,"id":9007199254740993}', { id: "9007199254740993" }],
    ['{"id":9007199254740993,"id":1}', { id: 1 }],
    ['{"":":","id":9007199254740993,"a":"}"}', { "": ":", id: "9007199254740993", a: "}" }],
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
    '{"id":9007199254740992E0}',
    '{"id":1e400}',
    '{"id":-0}',
    '{"id":1.0}',
    '{"id":[9007199254740993]}',
    '{"text":"id\\":9007199254740993"}',
    '{"text":"\\\\\\"id\\":9007199254740993,"}',
    '["id",": 9007199254740993,"]',
    '{"id":"\\u0069d\\\\","a":": 9007199254740993 "}',
    '"id:9007199254740993"',
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

/** A reviver sees each name and number as it was written. It is slow, and fails on deeply nested JSON. */
function reference(text: string): unknown {
  const isId = /^(?:id|cursor|username)$|(?:Id|ID|_id|Cursor|_cursor)$/;
  const revive = (name: string, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source ?? "";
    const isLong = /^-?[0-9]+$/.test(source) && !Number.isSafeInteger(value);
    return isLong && isId.test(name) ? source : value;
  };
  return JSON.parse(text, revive);
}

test("every spelling of a name, of a number and of the space between them is read alike", () => {
  const space = fc.constantFrom("", " ", "\t\r\n");
  const spelt = fc
    .tuple(fc.constantFrom("id", "postId", "cursor", "paid", 'i"d', "i\\d", ":", ""), fc.nat())
    .map(([name, mask]) => {
      const units = [...name].map((unit, at) =>
        (mask >> at) % 2 === 0
          ? JSON.stringify(unit).slice(1, -1)
          : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      return `"${units.join("")}"`;
    });
  const number = fc.oneof(
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String),
    fc.constantFrom("9007199254740993", "9007199254740993.0", "9007199254740993e0", "-0", "1e400"),
  );
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      number,
      spelt,
      fc.array(tie("json"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
      fc
        .array(fc.tuple(spelt, space, space, tie("json")), { maxLength: 4 })
        .map((fields) => `{${fields.map(([n, a, b, v]) => `${n}${a}:${b}${v}`).join(",")}}`),
    ),
  }));
  fc.assert(
    fc.property(json, (text) => {
      expect(parseJson(text)).toEqual(reference(text));
    }),
    { numRuns: 2_000 },
  );
});

test("a damaged text is an error wherever JSON.parse finds one", () => {
  const text = '{"a":"\\"id\\":1","id":9007199254740993,"b":[{"postId" : 9007199254740995}]}';
  const parts = fc.constantFrom(
    '"',
    "\\",
    ":",
    ",",
    "{",
    "}",
    "id",
    '"id":',
    "0",
    "9007199254740993",
  );
  fc.assert(
    fc.property(fc.nat(text.length), fc.nat(4), parts, (at, removed, part) => {
      const damaged = text.slice(0, at) + part + text.slice(at + removed);
      const outcome = (parse: (text: string) => unknown) => {
        try {
          return parse(damaged);
        } catch (error) {
          return error instanceof SyntaxError ? "no JSON" : error;
        }
      };
      expect(outcome(parseJson)).toEqual(outcome(reference));
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  ["names inside a text", (n: number) => `{"a":"${'\\":9007199254740993,'.repeat(n)}"}`],
  ["backslashes", (n: number) => `{"${"\\\\".repeat(n)}id":9007199254740993}`],
  ["escaped quotes in a name", (n: number) => `{"${'\\"'.repeat(n)}id":9007199254740993}`],
  ["spaces", (n: number) => `{"id"${" ".repeat(n)}:${" ".repeat(n)}9007199254740993}`],
  ["colons", (n: number) => `["${": ".repeat(n)}",${'":",'.repeat(n)}9007199254740993]`],
  ["digits", (n: number) => `{"id":${"9".repeat(n)}.5}`],
  ["ids", (n: number) => `[${'{"id":9007199254740993},'.repeat(n)}0]`],
])("takes no longer than the test's time limit for 100,000 %s", (_, make) => {
  const text = make(100_000);
  expect(parseJson(text)).toBeTypeOf("object");
});

test("no depth costs an id its digits", () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  expect(parseJson(`{"id":9007199254740993,"deep":${deep}}`)).toMatchObject({
    id: "9007199254740993",
  });
});

test("the texts in a value are found at any depth, even in a cycle", () => {
  const value = JSON.parse(`${"[".repeat(200_000)}"x"${"]".repeat(200_000)}`);
  expect(textsIn(value)).toEqual(["x"]);
  const cycle: Record<string, unknown> = { a: "x", b: ["y", { c: "z" }] };
  cycle["self"] = [cycle];
  expect(textsIn(cycle).sort()).toEqual(["x", "y", "z"]);
});

test("a text that is not JSON throws a SyntaxError", () => {
  expect(() => parseJson('{"id":9007199254740993')).toThrow(SyntaxError);
});
