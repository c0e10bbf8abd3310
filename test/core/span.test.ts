import { describe, expect, test } from "vitest";
import { readSpan, readWhen } from "../faces/core.ts";

const NOW = Date.parse("2026-11-23T09:00:00Z");

describe("a span", () => {
  test.each([
    [0, 0],
    [1_500, 1_500],
    [0.2, 1],
    ["250ms", 250],
    ["90s", 90_000],
    ["10m", 600_000],
    ["1h30m", 5_400_000],
    ["1h 30m", 5_400_000],
    [" 2d ", 172_800_000],
    ["1d2h3m4s5ms", 93_784_005],
    ["365d", 31_536_000_000],
  ])("%j is %d ms", (span, ms) => {
    expect(readSpan(span, "delay")).toBe(ms);
  });

  test.each([
    "",
    " ",
    "10",
    "10 minutes",
    "1.5h",
    "-1m",
    "30m1h",
    "1m1m",
    "m",
    "366d",
    "10M",
    `1d${" ".repeat(400)}x`,
    `1d${" ".repeat(100)}1h`,
    "1".repeat(400),
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    31_536_000_001,
    null,
    undefined,
    {},
    ["10m"],
  ])("%j is refused, with what may be written instead", (span) => {
    const read = () => readSpan(span as string, "The timer's time");
    expect(read).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(read).toThrow(/^The timer's time must be .*"10m", "1h30m" or "2d", from 0 to 365 days/);
  });
});

test("a refused text, which a user may have written, is not in the error", () => {
  expect(() => readSpan("my secret plan", "The timer's time")).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining("secret") }),
  );
});

describe("a moment", () => {
  test("is as far away as it is now", () => {
    expect(readWhen(new Date(NOW + 60_000), NOW, "when")).toBe(60_000);
  });

  test("that has passed is due at once", () => {
    expect(readWhen(new Date(NOW - 60_000), NOW, "when")).toBe(0);
  });

  test.each([new Date(Number.NaN), new Date(NOW + 366 * 86_400_000)])("%s is refused", (when) => {
    expect(() => readWhen(when, NOW, "when")).toThrow(
      /^when must be a valid Date, from 0 to 365 days/,
    );
  });

  test("a span needs no clock", () => {
    expect(readWhen("2s", NOW, "when")).toBe(2_000);
  });
});
