import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  anything,
  arrayOf,
  boolean,
  changed,
  lenient,
  nullable,
  number,
  object,
  oneOf,
  openObject,
  optional,
  readShape,
  type Shape,
  string,
} from "../faces/core.ts";

function read<T>(shape: Shape<T>, value: unknown): T {
  const result = readShape(shape, value);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

function problemsOf(shape: Shape<unknown>, value: unknown): string[] {
  const result = readShape(shape, value);
  if (result.ok) throw new Error("The value fits.");
  return result.problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

const person = openObject({
  name: string,
  age: optional(number),
  picture: nullable(string),
  nick: lenient(string),
  pets: arrayOf(openObject({ kind: oneOf("cat", "dog"), isTame: boolean })),
});

const ada = { name: "Ada", picture: null, pets: [{ kind: "cat", isTame: true }] };

describe("a value that fits", () => {
  test("is returned with its further fields, after those of the shape", () => {
    const value = read(person, { more: [1], ...ada, age: 36, nick: "Al" });
    expect(value).toEqual({ more: [1], ...ada, age: 36, nick: "Al" });
    expect(Object.keys(value)).toEqual(["name", "age", "picture", "nick", "pets", "more"]);
  });

  test("is returned without its further fields by a closed shape", () => {
    expect(read(object({ name: string }), ada)).toEqual({ name: "Ada" });
  });

  test("lacks the fields that are missing, and those that a lenient shape refuses", () => {
    expect(read(person, { ...ada, nick: 5 })).toStrictEqual(ada);
    expect(read(person, { ...ada, nick: { more: 1 } })).toStrictEqual(ada);
  });

  test("is changed before it is checked", () => {
    const words = changed(string, (value) => value ?? "");
    expect([read(words, null), read(words, undefined), read(words, "a")]).toEqual([
      ...["", "", "a"],
    ]);
    expect(read(object({ text: changed(optional(string), () => undefined) }), {})).toEqual({});
  });

  test("is never changed itself", () => {
    const given = Object.freeze({ ...ada, nick: 5 });
    read(person, given);
    expect(given).toEqual({ ...ada, nick: 5 });
  });
});

describe("a value that does not fit", () => {
  test("is described by the path of each part, without quoting it", () => {
    expect(
      problemsOf(person, {
        age: "secret",
        picture: 1,
        pets: [null, { kind: "secret", isTame: "secret" }, []],
      }),
    ).toEqual([
      "name: expected string, received undefined",
      "age: expected number, received string",
      "picture: expected string, received number",
      "pets.0: expected object, received null",
      "pets.1.kind: expected cat or dog, received string",
      "pets.1.isTame: expected boolean, received string",
      "pets.2: expected object, received array",
    ]);
  });

  test.each([
    ["a text for a number", number, "5"],
    ["a number that is too large", number, JSON.parse("1e999")],
    ["NaN", number, Number.NaN],
    ["null for a missing field", optional(string), null],
    ["nothing for null", nullable(string), undefined],
    ["an object for a list", arrayOf(anything), { length: 0 }],
    ["a value of another type", oneOf(1), "1"],
  ])("may be %s", (_name, shape, value) => {
    expect(problemsOf(shape, value)).toHaveLength(1);
  });
});

test("a field's name never reaches the prototype", () => {
  const hostile: unknown = JSON.parse('{"name":"Ada","__proto__":{"isAdmin":true}}');
  const value: Record<string, unknown> = read(openObject({ name: string }), hostile);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(value.isAdmin).toBeUndefined();
  // A name of Object.prototype is a missing field, until the value has it.
  expect(problemsOf(openObject({ constructor: string }), {})).toHaveLength(1);
  expect(read(openObject({}), { constructor: "x" })).toEqual({ constructor: "x" });
});

test("the JSON Schema of a shape accepts each value that the shape returns, and no other type", () => {
  const closed = object({ person: nullable(person), any: anything, texts: arrayOf(string) });
  const schema = z.fromJSONSchema(closed.json());
  const perhaps = <T>(value: fc.Arbitrary<T>) => fc.oneof(value, fc.jsonValue({ maxDepth: 1 }));
  const pet = fc.record({ kind: fc.constantFrom("cat", "dog", "cow"), isTame: fc.boolean() });
  const some = fc.record(
    {
      ...{ name: fc.string(), age: perhaps(fc.integer()), nick: perhaps(fc.string()) },
      ...{ picture: fc.option(fc.string()), pets: fc.array(pet, { maxLength: 2 }) },
    },
    { requiredKeys: ["name", "picture", "pets"] },
  );
  const given = fc.record({
    ...{ person: perhaps(some), any: fc.jsonValue({ maxDepth: 1 }) },
    texts: perhaps(fc.array(fc.string(), { maxLength: 2 })),
  });
  let fitting = 0;
  fc.assert(
    fc.property(given, (value) => {
      const result = readShape(closed, value);
      if (!result.ok) return;
      fitting += 1;
      expect(schema.safeParse(result.value).error).toBeUndefined();
    }),
  );
  expect(fitting).toBeGreaterThan(0);
  const read = { person: { ...ada, age: 36 }, any: 1, texts: [] };
  expect(schema.safeParse(read).success).toBe(true);
  for (const wrong of [
    { ...read, more: 1 },
    { ...read, texts: [1] },
    { ...read, person: { ...ada, age: "36" } },
    { ...read, person: { ...ada, picture: undefined } },
    { ...read, person: { ...ada, pets: [{ kind: "cow", isTame: true }] } },
  ]) {
    expect(schema.safeParse(JSON.parse(JSON.stringify(wrong))).success).toBe(false);
  }
});
