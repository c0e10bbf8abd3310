import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idFamily, orderKey } from "../faces/events.ts";

/** Compares keys byte by byte, as both stores do. */
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

  test("sort in the order of their integers", () => {
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

/**
 * Returns the key that earlier versions generated, and that old inboxes still contain. A decimal id sorts as a number,
 * and any other id as text.
 */
function formerKey(id: string): string {
  return /^[0-9]+$/.test(id) ? orderKey(id) : `~${id}`;
}

const prefix = fc.oneof(
  fc.constantFrom(
    "evt_",
    "q_",
    "-",
    "dm-",
    "a:",
    "~",
    "é/",
    "é",
    "evt_2_",
    "evt_~",
    "1526919030474-",
  ),
  fc
    .tuple(fc.string({ unit: "grapheme", maxLength: 6 }), fc.constantFrom("_", "-", ":", "~", "é"))
    .map((parts) => parts.join("")),
);

/** Generates numbers for a base whose digits ascend in ASCII. */
function numerals(base: number): fc.Arbitrary<bigint> {
  const near = BigInt(base) ** 3n;
  return fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 130n }),
    fc.bigInt({ min: 2n ** 53n - 100n, max: 2n ** 53n + 100n }),
    fc.bigInt({ min: near - 5n, max: near + 20n }),
    fc.bigInt({ min: 0n, max: 300n }),
  );
}

function signOf(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

describe("ids with a separator compare by their prefix, then by the numeral behind it", () => {
  test.each([
    ["evt_9", "evt_10"],
    ["q_9", "q_10"],
    ["evt_99", "evt_100"],
    ["evt-9007199254740992", "evt-9007199254740993"],
    ["evt_0999", "evt_1000"],
    ["evt_9999", "evt_10000"],
    ["1526919030474-9", "1526919030474-10"],
    // Hexadecimal ids without a letter, and ids that begin with a letter.
    ["evt_1009", "evt_100a"],
    ["evt_100f", "evt_1010"],
    ["evt_9", "evt_a"],
    ["evt_f", "evt_10"],
    ["evt_ff", "evt_100"],
    ["evt_9999", "evt_999a"],
    ["evt_00ff", "evt_0100"],
    ["evt_1a9", "evt_1a10"],
    ["EVT_9", "EVT_A"],
    // Ids of fixed width.
    ["evt_01HV9ZZZ", "evt_01HVA000"],
    ["evt_09ZZ", "evt_0A00"],
    ["evt_A", "evt_a"],
  ])("%s comes before %s", (smaller, larger) => {
    expect(compare(smaller, larger)).toBe(-1);
    expect(compare(larger, smaller)).toBe(1);
  });

  test.each([2, 10, 16, 32, 36])("in base %i they sort in the order of their integers", (base) => {
    fc.assert(
      fc.property(prefix, numerals(base), numerals(base), zeros, (before, a, b, padding) => {
        const [left, right] = [before + a.toString(base), before + b.toString(base)];
        expect(compare(left, right)).toBe(signOf(a, b));
        expect(compare(before + padding + a.toString(base), right)).toBe(signOf(a, b));
      }),
      { numRuns: 1_000 },
    );
  });

  test("sorting hexadecimal ids sorts their numbers, with letters or without", () => {
    const ids = Array.from({ length: 0x1200 }, (_, nth) => `evt_${nth.toString(16)}`);
    expect(ids.toReversed().sort(compare)).toEqual(ids);
  });

  test("tails of one length keep the order that they had as text", () => {
    const tail = fc.stringMatching(/^[0-9A-Za-z]{6}$/);
    fc.assert(
      fc.property(prefix, tail, tail, (before, a, b) => {
        const former = Buffer.compare(Buffer.from(before + a), Buffer.from(before + b));
        expect(compare(before + a, before + b)).toBe(former);
      }),
    );
  });

  test("a key that earlier versions stored comes before every key of the same prefix", () => {
    const tail = fc.stringMatching(/^[0-9A-Za-z]{1,12}$/);
    fc.assert(
      fc.property(prefix, tail, tail, (before, stored, arriving) => {
        const former = Buffer.from(formerKey(before + stored));
        expect(Buffer.compare(former, Buffer.from(orderKey(before + arriving)))).toBe(-1);
      }),
    );
  });
});

const numbered = /(^|[^0-9A-Za-z])[0-9A-Za-z]+$/;
const uuid = fc.uuid();
const text = fc.oneof(
  uuid,
  fc.stringMatching(/^[A-Za-z][0-9A-Za-z]{0,8}$/),
  fc
    .string({ unit: "grapheme" })
    .filter((id) => /[^0-9A-Za-z]$/.test(id) || (/^[0-9A-Za-z]*$/.test(id) && !/^\d+$/.test(id))),
);

describe("all other ids compare as text, byte by byte", () => {
  test("their order is the order of their bytes, and their keys are those that earlier versions stored", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(compare(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(orderKey(a)).toBe(formerKey(a));
      }),
    );
  });

  test.each([
    ["q10", "q9"],
    ["01HZX", "01HZY"],
    ["01J9ZC8XQ4V6N2M7K5T3R1P0WB", "01J9ZC8XQ4V6N2M7K5T3R1P0WC"],
    ["0190a9f3-10ab-7c3d-9e00-000000000009", "0190a9f3-9fab-7c3d-9e00-000000000001"],
    ["0190a9f3-10ab-7c3d-9e00-000000000009", "0190a9f3-10ab-7c3d-9e00-00000000000a"],
    ["0190A9F3-10AB-7C3D-9E00-000000000009", "0190A9F3-10AB-7C3D-9E00-00000000000A"],
    ["evt_10_", "evt_9_"],
  ])("%s comes before %s", (smaller, larger) => {
    expect(compare(smaller, larger)).toBe(-1);
  });

  test("numbers come before text", () => {
    fc.assert(
      fc.property(digits, fc.string({ unit: "grapheme" }), (number, other) => {
        fc.pre(!/^[0-9]+$/.test(other));
        expect(compare(number, other)).toBe(-1);
      }),
    );
  });
});

describe("for any ids", () => {
  const letters = fc.constantFrom("e", "_", ":", "0", "1", "9", "a", "~");
  const id = fc.array(letters, { maxLength: 5 }).map((all) => all.join(""));
  const bare = (whole: string) =>
    numbered.test(whole) && (/[^0-9A-Za-z]/.test(whole) || /^[0-9]+$/.test(whole))
      ? whole.replace(/(^|[^0-9A-Za-z])0+([0-9A-Za-z]+)$/, "$1$2")
      : whole;

  test("two have one key only if they differ in zeros before their numeral", () => {
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

test("ids are of one family if they are digits alone, have one prefix, or are text", () => {
  expect(idFamily("9")).toBe(idFamily("10"));
  expect(idFamily("evt_9")).toBe(idFamily("evt_010"));
  expect(idFamily("evt_9")).toBe(idFamily("evt_9a"));
  expect(idFamily("q9")).toBe(idFamily("abc"));
  expect(idFamily("0190a9f3-10ab-7c3d-9e00-000000000009")).toBe(
    idFamily("0190a9f4-10ab-7c3d-9e01-000000000001"),
  );
  expect(new Set(["9", "evt_9", "q_9", "a_q_9", "q9"].map(idFamily)).size).toBe(5);
});

test("an id that nearly is a number costs no more than its length", () => {
  const started = performance.now();
  for (const id of [`${"0".repeat(100_000)}x`, `${"1".repeat(100_000)}_`, "0".repeat(100_000)]) {
    orderKey(id);
  }
  // In quadratic time, ids of this length would take several seconds. In linear time, they take a millisecond.
  expect(performance.now() - started).toBeLessThan(1_000);
});
