import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTooComplex, maxEventsIn } from "../faces/core.ts";

function isRefused(json: string): boolean {
  const bytes = Buffer.from(json);
  return isTooComplex(bytes, maxEventsIn(bytes));
}

const listOf = (count: number, make: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join(",");
const deliveryOf = (count: number, make: (n: number) => string) =>
  `{"events":[${listOf(count, make)}]}`;
const payloadOf = (payload: string) => `{"events":[{"id":"1","type":"x","payload":${payload}}]}`;

const createdAt = "2026-01-02T03:04:05.678Z";
const actor = { username: "a", name: "a" };

/** The smallest events of documented types. */
const smallest: readonly (readonly [string, object])[] = [
  ["a like", { type: "like", payload: { actor, entityType: "p", entityId: "1" } }],
  ["a follow", { type: "follow", payload: { actor, entityType: "u", entityId: "1" } }],
  [
    "a direct message",
    {
      type: "dm.message",
      payload: { conversationId: "1", from: { userId: "1", ...actor }, excerpt: "" },
    },
  ],
  [
    "a mention",
    {
      type: "mention",
      payload: { actor, entityType: "p", entityId: "1", excerpt: "", postId: "1", commentId: "1" },
    },
  ],
];

describe("a delivery within bounds", () => {
  test.each(smallest)("has any number of events of a documented type: %s", (_, event) => {
    const json = JSON.stringify({ id: 1, ...event, createdAt });
    const body = Buffer.from(deliveryOf(30_000, () => json));
    expect(isTooComplex(body, maxEventsIn(body))).toBe(false);
    // A larger delivery has the same shares, without what is free.
    const [values, events] = [json.match(/[{[,]/g)?.length ?? 0, 1];
    expect((values + 1) / (json.length + 1)).toBeLessThan(1 / 12);
    expect(events / (json.length + 1)).toBeLessThan(1 / 128);
  });

  test.each([
    ["10,000 empty events", deliveryOf(10_000, () => "{}")],
    ["half a million levels", payloadOf(`${"[".repeat(499_000)}${"]".repeat(499_000)}`)],
    ["a list of 200,000 numbers", payloadOf(`[${listOf(200_000, () => "1")}]`)],
    ["10,000 different names", payloadOf(`{${listOf(9_900, (n) => `"${n}":1`)}}`)],
    ["100,000 equal names", payloadOf(`[${listOf(100_000, () => '{"a":1}')}]`)],
    ["a name of a megabyte", payloadOf(`{"${"x".repeat(1_000_000)}":1}`)],
    ["commas and brackets in a text", payloadOf(`{"a":"${',[{\\"'.repeat(400_000)}"}`)],
    ["colons in a text", payloadOf(`{"a":"${listOf(50_000, (n) => `${n}:`)}"}`)],
  ])("has %s", (_, json) => {
    expect(isRefused(json)).toBe(false);
  });
});

describe("a delivery out of bounds", () => {
  test.each([
    ["340,000 empty events", deliveryOf(340_000, () => "{}")],
    ["a million numbers as events", deliveryOf(1_000_000, () => "1")],
    ["100,000 events with tiny ids", deliveryOf(100_000, (n) => `{"id":${n}}`)],
    ["100,000 events with one id", deliveryOf(100_000, () => '{"id":"1"}')],
    ["a million lists in a payload", payloadOf(`[${listOf(1_000_000, () => "[]")}]`)],
    ["two million numbers in a payload", payloadOf(`[${listOf(2_000_000, () => "1")}]`)],
    ["two million fields", payloadOf(`{${listOf(2_000_000, () => '"a":1')}}`)],
    ["20,000 different names", payloadOf(`{${listOf(20_000, (n) => `"${n}":1`)}}`)],
    ["20,000 spaced names", payloadOf(`{${listOf(20_000, (n) => `"${n}" :1`)}}`)],
    [
      "20,000 names in many objects",
      deliveryOf(2_000, (n) => `{${listOf(10, (m) => `"${n}_${m}":1`)}}`),
    ],
    ["a million levels", payloadOf("[".repeat(1_000_000))],
    ["a million levels of objects", payloadOf('{"a":'.repeat(1_000_000))],
  ])("has %s", (_, json) => {
    expect(isRefused(json)).toBe(true);
  });
});

test("a larger body may have more events, and no more than its share", () => {
  const padded = (count: number, bytes: number) =>
    deliveryOf(count, () => "{}").replace("{}", `{"x":"${"y".repeat(bytes)}"}`);
  expect(isRefused(padded(17_000, 1_000_000))).toBe(false);
  expect(isRefused(padded(19_000, 1_000_000))).toBe(true);
});

test("bytes that are not JSON are read to their end", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20_000, maxLength: 21_000 }), (bytes) => {
      expect(isTooComplex(bytes)).toBe(false);
    }),
    { numRuns: 20 },
  );
  for (const end of ['"', "\\", '"\\', ":", '"a":', ","]) {
    expect(isTooComplex(Buffer.from(`${" ".repeat(30_000)}${end}`))).toBe(false);
  }
});

test("a text before many colons is hashed only once", () => {
  expect(isTooComplex(Buffer.from(`"${"x".repeat(1_000_000)}"${":".repeat(1_000_000)}`))).toBe(
    false,
  );
});
