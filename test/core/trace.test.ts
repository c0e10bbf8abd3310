import { describe, expect, test } from "vitest";
import { newTrace, readTraceparent, spanIn, traceIdOf, traceOf } from "../faces/core.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

test("a new trace is an id alone, and none is like another", () => {
  const traces = Array.from({ length: 100 }, newTrace);
  for (const trace of traces) expect(trace).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(traces).size).toBe(100);
  expect(spanIn(traces[0])).toBeUndefined();
});

test("a trace names its id, and its span where it has one", () => {
  const span = { traceId, spanId, traceFlags: 1 };
  expect(traceOf(span)).toBe(`${traceId}-${spanId}-01`);
  expect(spanIn(traceOf(span))).toEqual(span);
  expect(traceIdOf(traceOf(span))).toBe(traceId);
  expect(traceIdOf(traceId)).toBe(traceId);
  expect(traceIdOf(undefined)).toBeUndefined();
  expect(spanIn(undefined)).toBeUndefined();
});

describe("a traceparent header", () => {
  test("names a span", () => {
    const trace = `${traceId}-${spanId}-01`;
    expect(readTraceparent(`00-${trace}`)).toBe(trace);
    expect(readTraceparent(` 00-${trace} `)).toBe(trace);
    // A later version may append fields.
    expect(readTraceparent(`cc-${trace}-what-the-future-will-be-like`)).toBe(trace);
  });

  test.each([
    undefined,
    "",
    "x",
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01\n`.repeat(2),
    [`00-${traceId}-${spanId}-01`],
  ])("that is malformed, or there twice, names none: %j", (header) => {
    expect(readTraceparent(header)).toBeUndefined();
  });
});
