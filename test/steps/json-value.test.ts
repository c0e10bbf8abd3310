import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { copyAsJson } from "../faces/steps.ts";

class Order {
  readonly id = 1;
}

/** The path of the part that JSON cannot keep, and the problem with it. */
function problemOf(value: unknown): string | undefined {
  const copy = copyAsJson(value);
  return copy.ok ? undefined : `${copy.path} ${copy.problem}`;
}

describe("a value that JSON keeps", () => {
  const shared = { a: 1 };
  test.each<[string, unknown]>([
    ["texts, numbers, booleans and null", ["", "x", 0, -1.5, 1e300, true, false, null]],
    ["objects and arrays in each other", { a: [{ b: [] }], "": {} }],
    ["a Date", { when: new Date(0) }],
    ["a Buffer, by its toJSON", Buffer.from("hi")],
    ["a URL", new URL("https://example.org/a")],
    ["a toJSON that returns another one", { toJSON: () => ({ at: new Date(5) }) }],
    ["properties without a value", { a: undefined, b: 1 }],
    ["undefined in an array", [1, undefined]],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
    ["an object of another realm", runInNewContext("({ a: [1] })")],
    ["one object in two places", [shared, shared]],
    ["the groups of a match", /(?<year>\d+)/.exec("in 2026")?.groups],
    ["a key that looks like a prototype", JSON.parse('{"__proto__":{"a":1}}')],
    ["half a character", "\ud800"],
  ])("is what parsing its text gives: %s", (_name, value) => {
    const copy = copyAsJson(value);
    expect(copy).toEqual({ ok: true, value: JSON.parse(JSON.stringify(value)) });
    expect(JSON.stringify(copy.ok && copy.value)).toBe(JSON.stringify(value));
  });

  test("stays undefined", () => {
    expect(copyAsJson(undefined)).toEqual({ ok: true, value: undefined });
  });

  test("is asked for its JSON once", () => {
    let calls = 0;
    copyAsJson({ a: { toJSON: () => ++calls } });
    expect(calls).toBe(1);
  });
});

describe("a value that JSON would change in silence is refused, with its place", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = { back: cycle };
  let deep: unknown = null;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  test.each<[string, unknown, string]>([
    ["a Map", { items: [1, { when: new Map() }] }, "$.items[1].when is a Map"],
    ["a Set", new Set(), "$ is a Set"],
    ["a bigint", { n: 1n }, "$.n is a bigint"],
    ["a function", { f: () => 1 }, "$.f is a function"],
    ["a symbol", [Symbol("s")], "$[0] is a symbol"],
    ["NaN", { "a b": Number.NaN }, '$["a b"] is NaN'],
    ["Infinity", -Infinity, "$ is -Infinity"],
    ["an invalid Date", { d: new Date(Number.NaN) }, "$.d is an invalid Date"],
    ["a hole", new Array(2), "$[0] is a hole"],
    ["an instance of a class", [new Order()], "$[0] is a Order"],
    ["an instance of a class without a name", new (class {})(), "$ is a class instance"],
    ["an Error", { error: new Error("x") }, "$.error is a Error"],
    ["bytes", new Uint8Array(2), "$ is a Uint8Array"],
    ["a promise", { later: Promise.resolve(1) }, "$.later is a Promise"],
    ["what toJSON returns", { toJSON: () => new Map() }, "$ is a Map"],
    ["a cycle", cycle, "$.self.back contains itself"],
  ])("%s", (_name, value, problem) => {
    expect(problemOf(value)).toBe(problem);
  });

  test("more levels than a program can walk", () => {
    expect(problemOf(deep)).toMatch(/^\$(\[0\])+ is nested too deeply$/);
  });
});
