import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { orderKey } from "../../src/events/id.ts";

/** As the stores compare: byte by byte. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(orderKey(a)), Buffer.from(orderKey(b)));
}

const digits = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** 40n }).map(String),
  fc.bigInt({ min: 2n ** 53n - 100n, max: 2n ** 53n + 100n }).map(String),
  fc.nat({ max: 200 }).map(String),
);
const zeros = fc.nat({ max: 5 }).map((count) => "0".repeat(count));

describe("ids of digits compare as numbers", () => {
  test.each([
    ["9", "10"],
    ["99", "100"],
    ["9007199254740992", "9007199254740993"],
    ["9007199254740993", "18014398509481984"],
    ["99999999999999999999999999999", "100000000000000000000000000000"],
  ])("%s comes before %s", (smaller, larger) => {
    expect(compare(smaller, larger)).toBe(-1);
    expect(compare(larger, smaller)).toBe(1);
  });

  test("their order is the order of the integers they stand for", () => {
    fc.assert(
      fc.property(digits, digits, zeros, (a, b, padding) => {
        const expected = BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
        expect(compare(a, b)).toBe(expected);
        expect(compare(padding + a, b)).toBe(expected);
        expect(compare(a, padding + b)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test("zeros in front do not count", () => {
    expect(orderKey("007")).toBe(orderKey("7"));
    expect(orderKey("000")).toBe(orderKey("0"));
  });

  test("a number of a million digits still comes after a shorter one", () => {
    expect(compare("9".repeat(999_999), `1${"0".repeat(999_999)}`)).toBe(-1);
  });

  test("Arabic digits, signs, points and blanks make it text", () => {
    for (const id of ["١٢", "-1", "+1", "1.0", "1e3", " 1", "1 ", "1\n", ""]) {
      expect(compare("9", id), JSON.stringify(id)).toBe(-1);
    }
  });
});

describe("all other ids compare as text, byte by byte", () => {
  test("their order is the order of their bytes", () => {
    const text = fc.string({ unit: "grapheme" }).filter((id) => !/^[0-9]+$/.test(id));
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(compare(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });

  test.each([
    ["evt_10", "evt_9"],
    ["evt_A", "evt_a"],
    ["evt_1", "evt_10"],
    ["01HZX", "01HZY"],
  ])("%s comes before %s", (smaller, larger) => {
    expect(compare(smaller, larger)).toBe(-1);
  });

  test("numbers come before text", () => {
    fc.assert(
      fc.property(digits, fc.string({ unit: "grapheme" }), (number, text) => {
        fc.pre(!/^[0-9]+$/.test(text));
        expect(compare(number, text)).toBe(-1);
      }),
    );
  });
});

test("an id that nearly is a number costs no more than its length", () => {
  const started = performance.now();
  for (const id of [`${"0".repeat(100_000)}x`, `${"1".repeat(100_000)}x`, "0".repeat(100_000)]) {
    orderKey(id);
  }
  // Quadratic work on ids of this length takes several seconds; linear work, a millisecond.
  expect(performance.now() - started).toBeLessThan(1_000);
});
