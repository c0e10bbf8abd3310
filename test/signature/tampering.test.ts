import fc from "fast-check";
import { expect, test } from "vitest";
import { sign, verify } from "../faces/signature.ts";

const secret = fc.string({ minLength: 1, maxLength: 40 }).map((rest) => `whsec_${rest}`);
const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
const seconds = fc.integer({ min: 1_600_000_000, max: 2_000_000_000 });
const bit = fc.integer({ min: 0, max: 7 });
const place = fc.nat();

function passes(body: Uint8Array, header: string, key: string, now: number): boolean {
  return verify(body, header, { secrets: [key], now: now * 1000 }).ok;
}

function flip(input: Uint8Array, at: number, which: number): Uint8Array {
  const copy = Uint8Array.from(input);
  const index = at % copy.length;
  copy[index] = (copy[index] ?? 0) ^ (1 << which);
  return copy;
}

test("any bytes under any secret verify as they were signed", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), secret, seconds, (body, key, now) => {
      expect(passes(body, sign(body, key, now), key, now)).toBe(true);
    }),
  );
});

test("any flipped bit of the body fails", () => {
  fc.assert(
    fc.property(bytes, secret, seconds, place, bit, (body, key, now, at, which) => {
      const header = sign(body, key, now);
      expect(passes(flip(body, at, which), header, key, now)).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

test("any flipped bit of the header fails, timestamp and signature alike", () => {
  fc.assert(
    fc.property(bytes, secret, seconds, place, bit, (body, key, now, at, which) => {
      const header = Buffer.from(sign(body, key, now), "latin1");
      const spoilt = Buffer.from(flip(header, at, which)).toString("latin1");
      expect(passes(body, spoilt, key, now)).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

test("another timestamp inside the window fails: t is signed too", () => {
  fc.assert(
    fc.property(bytes, secret, seconds, fc.integer({ min: 1, max: 300 }), (body, key, now, by) => {
      const moved = sign(body, key, now).replace(`t=${now}`, `t=${now - by}`);
      expect(passes(body, moved, key, now)).toBe(false);
    }),
  );
});

test("a byte that is added or taken away fails", () => {
  fc.assert(
    fc.property(bytes, secret, seconds, (body, key, now) => {
      const header = sign(body, key, now);
      expect(passes(body.subarray(1), header, key, now)).toBe(false);
      expect(passes(Uint8Array.from([...body, 0]), header, key, now)).toBe(false);
    }),
  );
});

test("a body cannot borrow from the timestamp: the dot between them is signed", () => {
  const [, v1] = sign("0{}", "whsec_x", 170_000_000).split(",");
  expect(passes(Buffer.from("{}"), `t=1700000000,${v1}`, "whsec_x", 1_700_000_000)).toBe(false);
});

test("any other secret fails", () => {
  fc.assert(
    fc.property(bytes, seconds, fc.string({ minLength: 1 }), (body, now, other) => {
      const header = sign(body, "whsec_the_real_one", now);
      expect(passes(body, header, `whsec_${other}`, now)).toBe(other === "the_real_one");
    }),
  );
});
