import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idFamily, orderKey } from "../../src/events/id.ts";

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

  test("Arabic digits, signs, points and blanks make it another id", () => {
    for (const id of ["١٢", "-1", "+1", "1.0", "1e3", " 1", "1 ", "1\n", ""]) {
      expect(compare("9", id), JSON.stringify(id)).toBe(-1);
    }
  });
});

/** The key of earlier versions, which inboxes still hold: digits alone as a number, any other id as text. */
function formerKey(id: string): string {
  return /^[0-9]+$/.test(id) ? orderKey(id) : `~${id}`;
}

const prefix = fc.oneof(
  fc.constantFrom("evt_", "q_", "e", "dm-", "a:", "~", "é/"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter((text) => !/[0-9]/.test(text)),
);

describe("ids of one prefix and digits compare as numbers", () => {
  test.each([
    ["evt_9", "evt_10"],
    ["q_9", "q_10"],
    ["q9", "q10"],
    ["evt_99", "evt_100"],
    ["evt-9007199254740992", "evt-9007199254740993"],
    ["evt_0999", "evt_1000"],
    ["evt_9999", "evt_10000"],
  ])("%s comes before %s", (smaller, larger) => {
    expect(compare(smaller, larger)).toBe(-1);
    expect(compare(larger, smaller)).toBe(1);
  });

  test("their order is the order of the integers they stand for, whatever the prefix", () => {
    fc.assert(
      fc.property(prefix, digits, digits, zeros, (before, a, b, padding) => {
        const expected = BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
        expect(compare(before + a, before + b)).toBe(expected);
        expect(compare(before + padding + a, before + b)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test("digits of one length keep the order that they had as text", () => {
    const padded = fc.nat({ max: 999_999 }).map((number) => String(number).padStart(6, "0"));
    fc.assert(
      fc.property(prefix, padded, padded, (before, a, b) => {
        const former = Buffer.compare(Buffer.from(before + a), Buffer.from(before + b));
        expect(compare(before + a, before + b)).toBe(former);
      }),
    );
  });

  test("a key that earlier versions stored comes before every key of the same prefix", () => {
    fc.assert(
      fc.property(prefix, digits, digits, (before, stored, arriving) => {
        const former = Buffer.from(formerKey(before + stored));
        expect(Buffer.compare(former, Buffer.from(orderKey(before + arriving)))).toBe(-1);
      }),
    );
  });
});

const counted = /^[^0-9]*[0-9]+$/;

describe("all other ids compare as text, byte by byte", () => {
  test("their order is the order of their bytes, and their keys are those that earlier versions stored", () => {
    const text = fc.string({ unit: "grapheme" }).filter((id) => !counted.test(id));
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(compare(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(orderKey(a)).toBe(formerKey(a));
      }),
    );
  });

  test.each([
    ["evt_A", "evt_a"],
    ["01HZX", "01HZY"],
    ["evt_01HV9ZZZ", "evt_01HVA000"],
    ["01J9ZC8XQ4V6N2M7K5T3R1P0WB", "01J9ZC8XQ4V6N2M7K5T3R1P0WC"],
    ["0190a9f3-10ab-7c3d-9e00-000000000009", "0190a9f3-9fab-7c3d-9e00-000000000001"],
    ["evt_1a10", "evt_1a9"],
    ["1526919030474-10", "1526919030474-9"],
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

describe("whatever the ids", () => {
  const letters = fc.constantFrom("e", "_", ":", "0", "1", "9", "a", "~");
  const id = fc.array(letters, { maxLength: 4 }).map((all) => all.join(""));

  test("two have one key only if they differ in zeros before their number", () => {
    const bare = (text: string) =>
      counted.test(text) ? text.replace(/^([^0-9]*)0+(?=[0-9])/, "$1") : text;
    fc.assert(
      fc.property(id, id, (a, b) => {
        expect(orderKey(a) === orderKey(b)).toBe(bare(a) === bare(b));
      }),
      { numRuns: 5_000 },
    );
  });

  test("the order is the same from both sides, and goes on from one to the next", () => {
    fc.assert(
      fc.property(id, id, id, (a, b, c) => {
        expect(compare(a, b)).toBe(0 - compare(b, a));
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 5_000 },
    );
  });
});

test("ids are of one family where one prefix, or none, is followed by digits alone, and else as texts", () => {
  expect(idFamily("evt_9")).toBe(idFamily("evt_010"));
  expect(idFamily("9")).toBe(idFamily("10"));
  expect(idFamily("evt_01HV")).toBe(idFamily("abc"));
  expect(new Set(["9", "evt_9", "q_9", "evt_9a"].map(idFamily)).size).toBe(4);
});

test("an id that nearly is a number costs no more than its length", () => {
  const started = performance.now();
  for (const id of [`${"0".repeat(100_000)}x`, `${"1".repeat(100_000)}x`, "0".repeat(100_000)]) {
    orderKey(id);
  }
  // Quadratic work on ids of this length takes several seconds; linear work, a millisecond.
  expect(performance.now() - started).toBeLessThan(1_000);
});
